// SPDX-License-Identifier: Apache-2.0
// octavo diff: compares a quantized model with a float one.
#include <nlohmann/json.hpp>

#include "client/cli/by_rule_table.h"
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"
#include "client/cli/outputs.h"
#include "client/cli/summary.h"
#include "core/job/summary.h"

namespace octavo::cli {
namespace {

struct Arguments {
  std::string baseline = {};
  ModelArguments input = {};
  std::string report = {};
  std::string html = {};
  std::string against = {};
  bool by_rule = false;
  bool each = false;
  std::string options_from = {};
  std::string profile = {};
  std::string target = {};
  std::string from = {};
};

// Reads the model at `path` with the shapes and the batch of the command line.
Result<job::ModelInput> ReadOther(const Invocation& invocation, const Arguments& arguments,
                                  const std::string& path) {
  ModelArguments named = arguments.input;
  named.model = path;
  named.samples = {};
  return ReadInput(invocation, named);
}

Result<job::ByRule> ReadByRule(const Invocation& invocation, const Arguments& arguments) {
  job::ByRule by_rule;
  const auto read = [](const std::string& path, std::optional<job::NamedBlob>& blob) -> Status {
    if (path.empty()) return {};
    OCTAVO_TRY(blob, ReadNamed(path));
    return {};
  };
  OCTAVO_CHECK(read(arguments.options_from, by_rule.options_from));
  OCTAVO_CHECK(read(arguments.profile, by_rule.profile));
  OCTAVO_CHECK(read(arguments.target, by_rule.target));
  if (!arguments.from.empty()) {
    OCTAVO_TRY(by_rule.from, ReadOther(invocation, arguments, arguments.from));
  }
  if (arguments.each) by_rule.granularity = job::Granularity::kApplication;
  return by_rule;
}

// Takes settings that the command line omits from the job whose report it names.
Status TakeOptions(const job::ByRule& by_rule, const Arguments& arguments,
                   job::ModelInput& baseline, job::ModelInput& input) {
  if (by_rule.options_from) {
    OCTAVO_TRY(const Options options, job::OptionsOfReport(by_rule.options_from->bytes.text()));
    for (job::ModelInput* model : {&baseline, &input}) {
      if (model->shape.empty()) model->shape = options.shape;
      if (model->batch == 0) model->batch = options.batch;
    }
    if (!arguments.input.options.Given("numerics")) {
      input.numerics = options.numerics.value_or(&numerics::kOnnx);
    }
  }
  return {};
}

Status WriteReport(const Invocation& invocation, const Arguments& arguments,
                   const std::string& report, OutputSet& outputs) {
  OCTAVO_CHECK(StageReport(invocation.host, report, outputs));
  OCTAVO_CHECK(outputs.Commit());
  if (arguments.by_rule && !invocation.json) {
    outputs.messages() << ByRuleTable(report);
  } else if (arguments.report.empty() && arguments.html.empty()) {
    invocation.host.out << report;
  } else if (invocation.json) {
    nlohmann::json files = nlohmann::json::object();
    if (!arguments.report.empty()) files["report"] = arguments.report;
    if (!arguments.html.empty()) files["html"] = arguments.html;
    outputs.messages() << files.dump() << '\n';
  }
  return {};
}

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(job::ModelInput input, ReadInput(invocation, arguments.input));
  OCTAVO_TRY(job::ModelInput baseline, ReadOther(invocation, arguments, arguments.baseline));
  OCTAVO_TRY(const job::ByRule by_rule, ReadByRule(invocation, arguments));
  OCTAVO_CHECK(TakeOptions(by_rule, arguments, baseline, input));
  OutputSet outputs(invocation);
  OCTAVO_CHECK(outputs.Add("--html", arguments.html));
  OCTAVO_CHECK(outputs.Add("--report", arguments.report));
  std::optional<const numerics::Mode*> against;
  if (!arguments.against.empty()) {
    OCTAVO_TRY(const Options other, ReadAs("against", arguments.against, "numerics"));
    against = other.numerics;
  }
  ProgressPrinter printer(invocation);
  const auto show = [&](const job::Progress& progress) { printer.Show(progress); };
  OCTAVO_TRY(std::string report,
             job::DiffModels(baseline, input, against, invocation.host.stop, show));
  std::string violation;
  if (arguments.by_rule) {
    OCTAVO_TRY(
        job::RuleReport measured,
        invocation.host.add_by_rule(report, by_rule, baseline, input, invocation.host.stop, show));
    report = std::move(measured.report_json);
    violation = std::move(measured.violation);
  }
  OCTAVO_CHECK(WriteReport(invocation, arguments, report, outputs));
  OCTAVO_TRY(const v1::Summary summary, job::SummaryOf(report));
  PrintFigures(invocation, summary);
  PrintWritten(invocation, {arguments.report, arguments.html});
  PrintWarnings(invocation, summary.warnings());
  if (violation.empty()) return kExitDone;
  return Fail(Code::kInternal, "{}", violation).Reason("NOT_EXACT");
}

void AddByRuleFlags(CLI::App& command, Arguments& arguments) {
  CLI::Option* by_rule =
      command.add_flag("--by-rule", arguments.by_rule,
                       "run the job again from REF and measure the effect of each rewrite rule on "
                       "the outputs; prints a table, and adds by_rule to the report");
  const auto add = [&](const char* name, std::string& value, const char* help) {
    command.add_option(name, value, std::string("with --by-rule: ") + help)
        ->type_name("FILE")
        ->needs(by_rule);
  };
  command
      .add_flag("--each", arguments.each,
                "with --by-rule: measure each application of a rule by itself")
      ->needs(by_rule);
  add("--options-from", arguments.options_from, "report of the job that made MODEL");
  add("--profile", arguments.profile, "profile of that job");
  add("--target", arguments.target, "target file of that job");
  add("--from", arguments.from, "input model of that job, if it is not REF");
}

}  // namespace

void AddDiff(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "diff", "compare a quantized model with a float model on samples, value by value");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("REF", arguments->baseline, "the float model to compare with (the baseline)")
      ->required();
  AddModelFlags(command, arguments->input, Data::kForInputs);
  AddLabelsFlag(command, arguments->input.samples);
  command
      .add_option("--report", arguments->report,
                  "write the report as JSON to FILE instead of stdout")
      ->type_name("FILE");
  command.add_option("--html", arguments->html, "write the report as an HTML page")
      ->type_name("FILE");
  arguments->input.options.Add(command, "numerics");
  arguments->input.options.Add(command, "allow_non_finite");
  command
      .add_option(
          "--against", arguments->against,
          "also run the quantized model in this second numerics mode and report the differences")
      ->type_name("MODE");
  AddByRuleFlags(command, *arguments);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
