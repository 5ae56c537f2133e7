// SPDX-License-Identifier: Apache-2.0
// What a report says of how its job can be run again.
#pragma once

#include <string>
#include <vector>

#include "core/job/action_digest.h"
#include "core/job/job.h"
#include "octavo/v1/report.pb.h"

namespace octavo::job {

// A line for a shell: `octavo optimize` with the names of the files, without their folders, and
// every option that changes the result and is not the default.  Samples in a folder are `FOLDER`.
std::string CommandOf(const Request& request);

std::vector<v1::ReportFile> FilesOf(const std::vector<DeclaredInput>& inputs);
// The model, named `name`, and its external data.
std::vector<v1::ReportFile> FilesOf(const Outcome& outcome, const std::string& name);

}  // namespace octavo::job
