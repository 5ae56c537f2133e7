// SPDX-License-Identifier: Apache-2.0
// octavo run: executes a float or quantized model in the built-in runtime.  An input that
// determines a shape or a scale (as the shape of a Reshape) becomes a constant; all samples must
// have the same value for it.
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_arguments.h"
#include "client/cli/outputs.h"
#include "client/cli/validators.h"
#include "client/cli/warnings.h"

namespace octavo::cli {
namespace {

struct Arguments {
  ModelArguments input = {};
  std::string out = {};
  std::string values = "outputs";
};

void PrintFiles(const Invocation& invocation, const std::string& folder,
                const std::vector<job::NamedBlob>& files,
                const std::vector<ir::Warning>& warnings) {
  std::vector<std::string> paths;
  for (const job::NamedBlob& file : files) paths.push_back(folder + '/' + file.name);
  const nlohmann::json result = {
      {"output", folder}, {"files", paths}, {"warnings", WarningsJson(warnings)}};
  invocation.host.out << result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                      << '\n';
}

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(const job::ModelInput input, ReadInput(invocation, arguments.input));
  OutputSet outputs(invocation);
  OCTAVO_CHECK(outputs.AddFolder("-o", arguments.out));
  ProgressPrinter printer(invocation);
  std::vector<ir::Warning> warnings;
  OCTAVO_TRY(const std::vector<job::NamedBlob> files,
             job::RunModel(
                 input, arguments.values == "all", invocation.host.stop,
                 [&](const job::Progress& progress) { printer.Show(progress); }, &warnings));
  OCTAVO_CHECK(StageInto("-o", arguments.out, files, outputs));
  OCTAVO_CHECK(outputs.Commit());
  PrintWarnings(invocation, warnings);
  if (invocation.json) {
    PrintFiles(invocation, arguments.out, files, warnings);
  } else {
    PrintWritten(invocation, {arguments.out + '/'});
  }
  return kExitDone;
}

}  // namespace

void AddRun(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "run",
      "run a float or quantized model on samples and write its outputs; an input that determines a "
      "shape must have the same value in all samples");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  AddModelFlags(command, arguments->input, Data::kForInputs);
  command
      .add_option("-o,--output", arguments->out,
                  "folder to write: one .npy per output, and index.json")
      ->type_name("DIR")
      ->required();
  command
      .add_option("--values", arguments->values,
                  "write the outputs only, or every intermediate value as well")
      ->type_name("outputs|all")
      ->capture_default_str()
      ->check(OneOf({"outputs", "all"}));
  arguments->input.options.Add(command, "numerics");
  arguments->input.options.Add(command, "allow_non_finite");
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
