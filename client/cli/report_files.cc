// SPDX-License-Identifier: Apache-2.0
#include "client/cli/report_files.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/job/provenance.h"

namespace octavo::cli {
namespace {

using nlohmann::json;

Failure Wrong(const std::string& what) {
  return Fail(Code::kInvalidArgument, "the report cannot be reproduced: {}", what).Field("REPORT");
}

Result<std::vector<ReportFile>> ReadFiles(const json& report, const char* key) {
  std::vector<ReportFile> files;
  const json list = report.value(key, json());
  if (!list.is_array() || list.empty()) return Wrong(fmt::format("it has no '{}'", key));
  for (const json& entry : list) {
    try {
      files.push_back({.role = entry.at("role").get<std::string>(),
                       .name = entry.at("name").get<std::string>(),
                       .sha256 = entry.at("sha256").get<std::string>()});
    } catch (const json::exception&) {
      return Wrong(fmt::format("an entry of '{}' lacks role, name or sha256", key));
    }
    // Samples may have been named by an absolute path; --data names them again.
    if (files.back().role == "samples" || StaysInside(files.back().name)) continue;
    return Wrong(fmt::format("'{}' is not the name of a file in a folder", files.back().name));
  }
  return files;
}

}  // namespace

bool StaysInside(const std::string& name) {
  const std::filesystem::path path(name);
  if (path.empty() || path.is_absolute()) return false;
  for (const auto& part : path) {
    if (part == "..") return false;
  }
  return true;
}

Result<JobRecord> ReadRecord(std::string_view report_json) {
  JobRecord record;
  OCTAVO_TRY(record.options, job::GivenOptionsOfReport(report_json));
  const json report = json::parse(report_json, nullptr, /*allow_exceptions=*/false);
  if (const auto at = report.find("octavo_version"); at != report.end() && at->is_string()) {
    record.version = at->get<std::string>();
  }
  OCTAVO_TRY(record.inputs, ReadFiles(report, "inputs"));
  OCTAVO_TRY(record.outputs, ReadFiles(report, "outputs"));
  if (record.outputs.front().role != "model") return Wrong("its first output is not the model");
  return record;
}

}  // namespace octavo::cli
