// SPDX-License-Identifier: Apache-2.0
// Samples from standard input.
#pragma once

#include "core/job/job.h"

namespace octavo::cli {

// Copies standard input to a temporary file; its first bytes decide whether the name is stdin.npz
// or stdin.npy.  kInvalidArgument for anything else, the stop's error within 100 ms.
Result<job::NamedBlob> ReadStandardInput(const StopToken& stop);

}  // namespace octavo::cli
