// SPDX-License-Identifier: Apache-2.0
// octavo compare: what differs between two reports, and whether an output lost accuracy.
#include <memory>
#include <optional>
#include <utility>

#include "client/cli/commands.h"
#include "client/cli/comparison.h"
#include "client/cli/comparison_json.h"
#include "client/cli/comparison_print.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"
#include "client/cli/terminal_text.h"
#include "client/cli/validators.h"
#include "core/report/json/parse.h"

namespace octavo::cli {
namespace {

// A value takes 3 KB in a report.  A hostile one, of empty objects, takes 120 times its size once
// it is parsed.
constexpr size_t kMostReportBytes = size_t{64} << 20;
constexpr double kMostDecibels = 1000;

struct Arguments {
  std::string before = {};
  std::string after = {};
  bool markdown = false;
  std::optional<double> fail_below = {};
};

Result<NamedReport> ReadReport(const std::string& path) {
  OCTAVO_TRY(const job::NamedBlob file, ReadNamed(path));
  if (file.bytes.size() > kMostReportBytes) {
    return Fail(Code::kTooLarge, "the report '{}' has {} bytes; at most {} are read", path,
                file.bytes.size(), kMostReportBytes)
        .Field(path);
  }
  auto report = report::ParseReport(file.bytes.text(), report::UnknownKeys::kIgnore);
  if (!report) {
    Error error = std::move(report).error();
    error.message = fmt::format("'{}': {}", path, error.message);
    return Forward(std::move(error));
  }
  if (report->octavo_version().empty() || !report->has_numerics()) {
    return Fail(Code::kInvalidArgument,
                "'{}' must be a report of `octavo optimize`, but it has no '{}'", path,
                report->has_numerics() ? "octavo_version" : "numerics")
        .Field(path);
  }
  return NamedReport{.file = path, .report = std::move(*report)};
}

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(const NamedReport before, ReadReport(arguments.before));
  OCTAVO_TRY(const NamedReport after, ReadReport(arguments.after));
  if (arguments.fail_below && before.report.numerics().outputs().empty()) {
    return Fail(
               Code::kInvalidArgument,
               "'{}' must have figures of outputs for --fail-below to compare with; its job ran no "
               "samples",
               before.file)
        .Field("--fail-below");
  }
  const Comparison comparison = Compare(before, after);
  const std::string failed =
      arguments.fail_below ? FailedBelow(comparison, *arguments.fail_below) : std::string();
  if (invocation.json) {
    using nlohmann::ordered_json;
    ordered_json json = ComparisonJson(comparison);
    json["gate_failed"] = !failed.empty();
    json["message"] = failed;
    invocation.host.out << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)
                        << '\n';
  } else {
    const auto style = arguments.markdown ? ComparisonStyle::kMarkdown : ComparisonStyle::kText;
    invocation.host.out << ComparisonText(comparison, style);
  }
  if (failed.empty()) return kExitDone;
  if (!invocation.json) {
    invocation.host.err << "octavo: error: gate failed: " << ForTerminal(failed) << '\n';
  }
  return kExitGateFailed;
}

}  // namespace

void AddCompare(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "compare",
      "compare two reports of a model, before and after a change, biggest changes first");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("A", arguments->before, "the report of `octavo optimize` before the change")
      ->required();
  command.add_option("B", arguments->after, "the report after the change")->required();
  command
      .add_flag("--markdown", arguments->markdown,
                "print GitHub Markdown, for example as a comment on a pull request")
      ->excludes("--json");
  command
      .add_option(
          "--fail-below", arguments->fail_below,
          "fail (exit 5) if the SQNR of an output fell by more than DB or became undefined, "
          "or if an output vanished")
      ->type_name("DB")
      ->check(NumberFrom(0, kMostDecibels));
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
