// octavo run: executes a float or quantized model in the built-in runtime.  An input whose elements
// decide a shape or a scale (the shape of a Reshape) is taken from the samples, which must agree.
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_arguments.h"
#include "client/cli/outputs.h"

namespace octavo::cli {
namespace {

struct Arguments {
  ModelArguments input = {};
  std::string out = {};
  std::string values = "outputs";
  std::string numerics = "onnx";
};

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(job::ModelInput input, ReadInput(invocation, arguments.input));
  input.numerics = arguments.numerics;
  ProgressPrinter printer(invocation.host.err, ProgressStyle(invocation));
  OCTAVO_TRY(const std::vector<job::NamedBlob> files,
             job::RunModel(input, arguments.values == "all", invocation.host.stop,
                           [&](const job::Progress& progress) { printer.Show(progress); }));
  OCTAVO_CHECK(WriteInto(arguments.out, files));
  return kExitDone;
}

}  // namespace

void AddRun(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "run",
      "execute a model on samples; an input that decides a shape is taken from "
      "them, so all samples must agree in it");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  AddModelFlags(command, arguments->input, Data::kRequired);
  command.add_option("-o,--output", arguments->out, "folder for one .npy per output")->required();
  command.add_option("--values", arguments->values, "outputs, or all intermediate values too")
      ->check(CLI::IsMember(std::vector<std::string>{"outputs", "all"}));
  command.add_option("--numerics", arguments->numerics, "numerics mode of integers");
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
