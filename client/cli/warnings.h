// SPDX-License-Identifier: Apache-2.0
// Warnings on stderr, and --fail-on-warning.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "client/cli/command.h"
#include "core/ir/warning.h"
#include "octavo/v1/report.pb.h"

namespace octavo::cli {

using WarningMessages = google::protobuf::RepeatedPtrField<v1::Warning>;

// Prints a line for each, "octavo: warning: MESSAGE [CODE]", unless errors alone are wanted or
// results are JSON.
void PrintWarnings(const Invocation& invocation, const WarningMessages& warnings);
void PrintWarnings(const Invocation& invocation, const std::vector<ir::Warning>& warnings);

// [{code, message, node}]
nlohmann::json WarningsJson(const std::vector<ir::Warning>& warnings);

// The warnings that make a job fail.
struct FailOnWarning {
  bool all = false;
  std::set<std::string, std::less<>> warning_codes = {};

  // The message for the first such warning; empty if there is none.
  std::string FailedBy(const WarningMessages& warnings) const;
};

void AddFailOnWarning(CLI::App& command, std::vector<std::string>& warning_codes);
// kUsage, with the list of warning codes, for one that does not exist.
Result<FailOnWarning> ParseFailOnWarning(const std::vector<std::string>& warning_codes);

}  // namespace octavo::cli
