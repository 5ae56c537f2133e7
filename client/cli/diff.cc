// octavo diff: the numerics report of a quantized model against a float one.
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
  std::string numerics = "onnx", against = {};
  bool by_rule = false;
  std::string options_from = {};
  std::string profile = {};
};

Result<job::ByRule> ReadByRule(const Arguments& arguments) {
  job::ByRule by_rule;
  const auto read = [](const std::string& path, std::optional<job::NamedBlob>& blob) -> Status {
    if (path.empty()) return {};
    OCTAVO_TRY(Blob bytes, Blob::MapFile(path));
    blob = job::NamedBlob{path, std::move(bytes)};
    return {};
  };
  OCTAVO_CHECK(read(arguments.options_from, by_rule.options_from));
  OCTAVO_CHECK(read(arguments.profile, by_rule.profile));
  return by_rule;
}

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(job::ModelInput input, ReadInput(invocation, arguments.input));
  input.numerics = arguments.numerics;
  ModelArguments named = arguments.input;
  named.model = arguments.reference;
  named.data.clear();
  OCTAVO_TRY(const job::ModelInput reference, ReadInput(invocation, named));
  ProgressPrinter printer(invocation.host.err, ProgressStyle(invocation));
  const auto show = [&](const job::Progress& progress) { printer.Show(progress); };
  OCTAVO_TRY(std::string report,
             job::DiffModels(reference, input, arguments.against, invocation.host.stop, show));
  if (arguments.by_rule) {
    OCTAVO_TRY(const job::ByRule by_rule, ReadByRule(arguments));
    OCTAVO_TRY(report, job::AddByRule(std::move(report), by_rule, reference, input,
                                      invocation.host.stop, show));
  }
  if (!arguments.report.empty())
    OCTAVO_CHECK(WriteFile(arguments.report, std::string_view(report)));
  if (!arguments.html.empty()) {
    OCTAVO_TRY(const std::string html, invocation.host.render_html(report));
    OCTAVO_CHECK(WriteFile(arguments.html, std::string_view(html)));
  }
  if (arguments.report.empty() && arguments.html.empty()) invocation.host.out << report;
  return kExitDone;
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
  command.add_option("--numerics", arguments->numerics, "numerics mode of the quantized model");
  command.add_option("--against", arguments->against,
                     "a second mode: the steps by which it differs, value by value");
  CLI::Option* by_rule =
      command.add_flag("--by-rule", arguments->by_rule,
                       "run the job again from REF and measure what each law did to the outputs");
  command
      .add_option("--options-from", arguments->options_from,
                  "with --by-rule: the report of the job that made MODEL")
      ->needs(by_rule);
  command.add_option("--profile", arguments->profile, "with --by-rule: the profile that it used")
      ->needs(by_rule);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
