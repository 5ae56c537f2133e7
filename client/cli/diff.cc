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
};

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(job::ModelInput input, ReadInput(invocation, arguments.input));
  input.numerics = arguments.numerics;
  ModelArguments named = arguments.input;
  named.model = arguments.reference;
  named.data.clear();
  OCTAVO_TRY(const job::ModelInput reference, ReadInput(invocation, named));
  ProgressPrinter printer(invocation.host.err, ProgressStyle(invocation));
  OCTAVO_TRY(const std::string report,
             job::DiffModels(reference, input, arguments.against, invocation.host.stop,
                             [&](const job::Progress& progress) { printer.Show(progress); }));
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
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
