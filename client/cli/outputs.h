// SPDX-License-Identifier: Apache-2.0
// Prepares the results of a job for an OutputSet: the model with its external data, the report,
// files of a folder and a depfile.
#pragma once

#include <string>
#include <vector>

#include "client/cli/output_set.h"
#include "core/job/job.h"

namespace octavo::cli {

// Stages the model as the file of -o (`path`), its external data for the same folder, and the
// constant data of a text graph for PATH.data.  Returns the paths that will be written.  kUsage if
// there is external data, but the model is a stream.  Refuses a name outside the folder, because
// names may come from a service.
Result<std::vector<std::string>> StageModel(const job::Outcome& outcome, const std::string& path,
                                            OutputSet& outputs);

// Stages the report as the files of --report and of --html, as far as they are asked for; it must
// stay until the commit.
Status StageReport(const Host& host, const std::string& report_json, OutputSet& outputs);

// Stages each blob for the folder of a flag.
Status StageInto(std::string_view flag, const std::string& folder,
                 const std::vector<job::NamedBlob>& blobs, OutputSet& outputs);

// A depfile in make's syntax: `target: inputs`.
std::string DepfileText(const std::string& target, const std::vector<std::string>& inputs);

// Says on stderr where the files are, unless errors alone are wanted or results are JSON; not of
// files without a path and of standard output.
void PrintWritten(const Invocation& invocation, std::vector<std::string> paths);

}  // namespace octavo::cli
