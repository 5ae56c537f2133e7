// SPDX-License-Identifier: Apache-2.0
// Writes the results of a job: the model with its external data, the report, snapshots and a
// depfile.
#pragma once

#include <string>
#include <vector>

#include "core/job/job.h"

namespace octavo::cli {

// Writes the model to `path`, its external data to the same folder, and the constant data of a text
// graph to PATH.data.  Returns the paths written.  Refuses a name outside the folder, because names
// may come from a service.
Result<std::vector<std::string>> WriteModel(const job::Outcome& outcome, const std::string& path);

// Creates the folder and writes each blob into it.
Status WriteInto(const std::string& folder, const std::vector<job::NamedBlob>& blobs);

// Writes a depfile in make's syntax: `target: inputs`.
Status WriteDepfile(const std::string& path, const std::string& target,
                    const std::vector<std::string>& inputs);

}  // namespace octavo::cli
