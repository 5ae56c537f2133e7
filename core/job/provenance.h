// SPDX-License-Identifier: Apache-2.0
// What a report says of how its job can be run again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/job/action_digest.h"
#include "core/job/job.h"
#include "octavo/v1/report.pb.h"

namespace octavo::job {

// A line for a shell: `octavo optimize` with the names of the files, without their folders, and
// every option that changes the result and is not the default.  A --data of several files is
// `FOLDER`, or `NAME=FOLDER`.
std::string CommandOf(const Request& request);

// The options of the request that are not the default, without those that change no result or that
// the files decide.
std::vector<v1::GivenOption> GivenOptions(const Request& request);
// The inverse, from a report; kInvalidArgument if it is none.  A report without them, as one of an
// earlier version, gives the options with what the target chose (OptionsOfReport).
Result<Options> GivenOptionsOfReport(std::string_view report_json);

std::vector<v1::ReportFile> FilesOf(const std::vector<DeclaredInput>& inputs);
// The model, named `name`, and its external data.
std::vector<v1::ReportFile> FilesOf(const Outcome& outcome, const std::string& name);

}  // namespace octavo::job
