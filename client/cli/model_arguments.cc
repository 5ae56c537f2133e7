// SPDX-License-Identifier: Apache-2.0
#include "client/cli/model_arguments.h"

#include "client/cli/inputs.h"

namespace octavo::cli {

namespace {

// Suppresses the description that CLI11 would add to the placeholder.
CLI::Validator NotNegative() { return CLI::Validator(CLI::NonNegativeNumber).description(""); }

}  // namespace

void AddLimitFlags(CLI::App& command, job::ModelLimits& limits) {
  command
      .add_option("--max-nodes", limits.nodes,
                  fmt::format("maximum nodes of a model that is read in this process; 0: no "
                              "limit (default: {})",
                              limits.nodes))
      ->check(NotNegative())
      ->type_name("N");
  command
      .add_option("--max-value-bytes", limits.value_bytes,
                  fmt::format("maximum size of a tensor that is computed in this process; 0: no "
                              "limit (default: {})",
                              limits.value_bytes))
      ->check(NotNegative())
      ->type_name("BYTES");
}

void AddModelFlags(CLI::App& command, ModelArguments& arguments, Data data) {
  command.add_option("MODEL", arguments.model, "the model: .onnx, .octavo or .graph")->required();
  std::string help = "samples: .npz, .npy, a folder of numbered samples, or random:SEED[:N]";
  if (data == Data::kForInputs) help += "; needed if the model has inputs";
  command.add_option("--data", arguments.data, help)->type_name("DATA");
  for (const char* option : {"shape", "batch", "threads"}) arguments.options.Add(command, option);
  AddLimitFlags(command, arguments.limits);
}

Result<job::ModelInput> ReadInput(const Invocation& invocation, const ModelArguments& arguments) {
  OCTAVO_TRY(const Options options, arguments.options.Read());
  job::ModelInput input{.shape = options.shape,
                        .batch = options.batch,
                        .threads = options.threads,
                        .limits = arguments.limits,
                        .numerics = options.numerics.value_or(&numerics::kOnnx)};
  OCTAVO_TRY(ModelFiles files, ReadModel(invocation.host, arguments.model));
  input.model = std::move(files.model);
  input.external_data = std::move(files.external);
  if (!arguments.data.empty()) {
    OCTAVO_TRY(SampleFiles samples, ReadSamples(arguments.data));
    input.samples = std::move(samples.samples);
  }
  return input;
}

void AddLocalFlags(CLI::App& command, Invocation& invocation) {
  AddCommonFlags(command, invocation);
  command.add_option_function<std::string>(
      "--server",
      [](const std::string&) {
        throw CLI::ValidationError("--server", "this command runs locally only");
      },
      "not supported by this command");
}

ProgressPrinter::Style ProgressStyle(const Invocation& invocation) {
  if (invocation.quiet || invocation.json) return ProgressPrinter::Style::kNone;
  return invocation.host.err_is_terminal ? ProgressPrinter::Style::kBar
                                         : ProgressPrinter::Style::kLines;
}

}  // namespace octavo::cli
