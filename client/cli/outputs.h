// Writes what a job gave: the model and the files beside it, the report, snapshots, a depfile.
#pragma once

#include <string>
#include <vector>

#include "core/job/job.h"

namespace octavo::cli {

// The model to `path`, its external files into the same folder, and a text graph's payloads into
// PATH.data; gives the paths written.  A name that leads out of the folder is refused: it may come
// from a service.
Result<std::vector<std::string>> WriteModel(const job::Outcome& outcome, const std::string& path);

// Each blob into the folder, which is made.
Status WriteInto(const std::string& folder, const std::vector<job::NamedBlob>& blobs);

// In make's syntax: `target: inputs`.
Status WriteDepfile(const std::string& path, const std::string& target,
                    const std::vector<std::string>& inputs);

}  // namespace octavo::cli
