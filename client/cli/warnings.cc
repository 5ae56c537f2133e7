// SPDX-License-Identifier: Apache-2.0
#include "client/cli/warnings.h"

#include "client/cli/terminal_text.h"
#include "core/base/nearest_name.h"

namespace octavo::cli {
namespace {

void Print(const Invocation& invocation, std::string_view message, std::string_view code) {
  if (invocation.quiet || invocation.json) return;
  invocation.host.err << ForTerminal(fmt::format("octavo: warning: {} [{}]", message, code))
                      << '\n';
}

}  // namespace

void PrintWarnings(const Invocation& invocation, const WarningMessages& warnings) {
  for (const v1::Warning& warning : warnings) {
    Print(invocation, warning.message(), warning.code());
  }
}

void PrintWarnings(const Invocation& invocation, const std::vector<ir::Warning>& warnings) {
  for (const ir::Warning& warning : warnings) {
    Print(invocation, warning.message, warning.code.name());
  }
}

nlohmann::json WarningsJson(const std::vector<ir::Warning>& warnings) {
  nlohmann::json list = nlohmann::json::array();
  for (const ir::Warning& warning : warnings) {
    list.push_back(
        {{"code", warning.code.name()}, {"message", warning.message}, {"node", warning.node}});
  }
  return list;
}

std::string FailOnWarning::FailedBy(const WarningMessages& warnings) const {
  for (const v1::Warning& warning : warnings) {
    if (!all && !warning_codes.contains(warning.code())) continue;
    return fmt::format("warning {}: {}", warning.code(), warning.message());
  }
  return {};
}

void AddFailOnWarning(CLI::App& command, std::vector<std::string>& warning_codes) {
  command
      .add_option(
          "--fail-on-warning", warning_codes,
          "fail (exit 5) if the job has one of these warnings, or any; `octavo warnings` lists "
          "them")
      ->type_name("CODE,..|all")
      ->delimiter(',')
      ->allow_extra_args(false);
}

Result<FailOnWarning> ParseFailOnWarning(const std::vector<std::string>& warning_codes) {
  FailOnWarning fail;
  for (const std::string& code : warning_codes) {
    if (code == "all") {
      fail.all = true;
    } else if (ir::FindWarning(code) != nullptr) {
      fail.warning_codes.insert(code);
    } else {
      std::vector<std::string_view> known;
      for (const ir::WarningRow& row : ir::kWarningRows) known.push_back(row.code);
      return Fail(Code::kUsage, "--fail-on-warning '{}' must be all or one of {}{}", code,
                  fmt::join(known, ", "), DidYouMean(code, known))
          .Field("--fail-on-warning");
    }
  }
  return fail;
}

}  // namespace octavo::cli
