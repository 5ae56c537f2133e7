// SPDX-License-Identifier: Apache-2.0
// What a report records of its job: options, and the files that it read and made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/job/execute.h"

namespace octavo::cli {

struct ReportFile {
  std::string role = {};
  std::string name = {};  // a path that stays in its folder, except that of samples
  std::string sha256 = {};
};

struct JobRecord {
  std::string version = {};
  Options options = {};  // as given
  std::vector<ReportFile> inputs = {};
  std::vector<ReportFile> outputs = {};  // the model first
};

// A report may come from anywhere: its names must not lead out of the folders that are searched.
bool StaysInside(const std::string& name);

// kInvalidArgument if the text is not the report of a job, or lacks its files.
Result<JobRecord> ReadRecord(std::string_view report_json);

}  // namespace octavo::cli
