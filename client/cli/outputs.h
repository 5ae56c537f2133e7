// SPDX-License-Identifier: Apache-2.0
// Writes the results of a job: the model with its external data, the report, snapshots, a depfile.
#pragma once

#include <string>
#include <vector>

#include "core/job/job.h"

namespace octavo::cli {

// Writes the model to `path`, its external data to the same folder, a text graph's constant data to
// PATH.data; returns the paths written.  A name outside the folder is refused: it may come from a
// service.
Result<std::vector<std::string>> WriteModel(const job::Outcome& outcome, const std::string& path);

// Creates the folder and writes each blob to it.
Status WriteInto(const std::string& folder, const std::vector<job::NamedBlob>& blobs);

// Writes the rule `target: inputs` in make's syntax.
Status WriteDepfile(const std::string& path, const std::string& target,
                    const std::vector<std::string>& inputs);

}  // namespace octavo::cli
