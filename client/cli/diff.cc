// octavo diff: the numerics report of a quantized model against a float one.
#include "client/cli/by_rule_table.h"
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"

namespace octavo::cli {
namespace {

struct Arguments {
  std::string reference = {};
  ModelArguments input = {};
  std::string report = {};
  std::string html = {};
  std::string numerics = {}, against = {};
  bool by_rule = false;
  bool each = false;
  std::string options_from = {};
  std::string profile = {};
  std::string target = {};
  std::string from = {};
};

// The model at `path`, its extents bound as the arguments say.
Result<job::ModelInput> ReadOther(const Invocation& invocation, const Arguments& arguments,
                                  const std::string& path) {
  ModelArguments named = arguments.input;
  named.model = path;
  named.data.clear();
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

// What the command line leaves open is as in the job whose report was named.
Status TakeOptions(const job::ByRule& by_rule, const Arguments& arguments,
                   job::ModelInput& reference, job::ModelInput& input) {
  if (by_rule.options_from) {
    OCTAVO_TRY(const job::Options options,
               job::OptionsOfReport(by_rule.options_from->bytes.text()));
    for (job::ModelInput* model : {&reference, &input}) {
      if (model->shape.empty()) model->shape = options.shape;
      if (model->batch == 0) model->batch = options.batch;
    }
    input.numerics = options.numerics;
  }
  if (!arguments.numerics.empty()) input.numerics = arguments.numerics;
  return {};
}

Status WriteReport(const Invocation& invocation, const Arguments& arguments,
                   const std::string& report) {
  const bool table = arguments.by_rule && !invocation.json;
  if (!arguments.report.empty())
    OCTAVO_CHECK(WriteFile(arguments.report, std::string_view(report)));
  if (!arguments.html.empty()) {
    OCTAVO_TRY(const std::string html, invocation.host.render_html(report));
    OCTAVO_CHECK(WriteFile(arguments.html, std::string_view(html)));
  }
  if (table) {
    invocation.host.out << ByRuleTable(report);
  } else if (arguments.report.empty() && arguments.html.empty()) {
    invocation.host.out << report;
  }
  return {};
}

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(job::ModelInput input, ReadInput(invocation, arguments.input));
  OCTAVO_TRY(job::ModelInput reference, ReadOther(invocation, arguments, arguments.reference));
  OCTAVO_TRY(const job::ByRule by_rule, ReadByRule(invocation, arguments));
  OCTAVO_CHECK(TakeOptions(by_rule, arguments, reference, input));
  ProgressPrinter printer(invocation.host.err, ProgressStyle(invocation));
  const auto show = [&](const job::Progress& progress) { printer.Show(progress); };
  OCTAVO_TRY(std::string report,
             job::DiffModels(reference, input, arguments.against, invocation.host.stop, show));
  std::string violation;
  if (arguments.by_rule) {
    OCTAVO_TRY(
        job::RuleReport measured,
        invocation.host.add_by_rule(report, by_rule, reference, input, invocation.host.stop, show));
    report = std::move(measured.report_json);
    violation = std::move(measured.violation);
  }
  OCTAVO_CHECK(WriteReport(invocation, arguments, report));
  if (violation.empty()) return kExitDone;
  return Fail(Code::kInternal, "{}", violation).Reason("NOT_EXACT");
}

void AddByRuleFlags(CLI::App& command, Arguments& arguments) {
  CLI::Option* by_rule =
      command.add_flag("--by-rule", arguments.by_rule,
                       "run the job again from REF and measure what each law did to the outputs: "
                       "a table, or with --json or --report by_rule of the report");
  const auto add = [&](const char* name, std::string& value, const char* help) {
    command.add_option(name, value, std::string("with --by-rule: ") + help)->needs(by_rule);
  };
  command
      .add_flag("--each", arguments.each,
                "with --by-rule: each application by itself, not each rule")
      ->needs(by_rule);
  add("--options-from", arguments.options_from, "the report of the job that made MODEL");
  add("--profile", arguments.profile, "the profile that it used");
  add("--target", arguments.target, "the target file that it used");
  add("--from", arguments.from, "the model that it was given, where that is not REF");
}

}  // namespace

void AddDiff(CLI::App& program, Invocation& invocation) {
  CLI::App& command =
      *program.add_subcommand("diff", "compare a quantized model with a float one, value by value");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("REF", arguments->reference, "the float model")->required();
  AddModelFlags(command, arguments->input, Data::kRequired);
  command.add_option("--report", arguments->report, "report as JSON; else it goes to stdout");
  command.add_option("--html", arguments->html, "report to look at");
  command.add_option("--numerics", arguments->numerics,
                     "numerics mode of the quantized model; onnx by default");
  command.add_option("--against", arguments->against,
                     "a second mode: the steps by which it differs, value by value");
  AddByRuleFlags(command, *arguments);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
