// SPDX-License-Identifier: Apache-2.0
// The constant data files of a text graph: GRAPH.data/DIGEST.
#pragma once

#include <vector>

#include "client/cli/host.h"

namespace octavo::cli {

inline constexpr const char* kPayloadFolder = ".data";

// Lists one file per digest in the text.
std::vector<ExternalFile> PayloadFiles(const job::NamedBlob& graph);

}  // namespace octavo::cli
