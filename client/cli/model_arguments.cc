#include "client/cli/model_arguments.h"

#include "client/cli/inputs.h"
#include "client/cli/optimize_options.h"

namespace octavo::cli {

void AddLimitFlags(CLI::App& command, job::ModelLimits& limits) {
  command
      .add_option("--max-nodes", limits.nodes,
                  "most nodes of a model that is read here; 0: any number")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--max-value-bytes", limits.value_bytes,
                  "most bytes of one value that is computed here; 0: any number")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void AddModelFlags(CLI::App& command, ModelArguments& arguments, Data data) {
  command.add_option("MODEL", arguments.model, ".onnx, .octavo or .graph")->required();
  CLI::Option* option = command.add_option("--data", arguments.data,
                                           "samples: .npz, .npy, folder or random:SEED[:N]");
  if (data == Data::kRequired) option->required();
  command.add_option("--shape", arguments.shape, "NAME=1,3,224,224 binds dynamic extents");
  command.add_option("--batch", arguments.batch, "extent of a dynamic batch; 1 by default")
      ->check(CLI::PositiveNumber);
  command.add_option("--threads", arguments.threads, "one per core by default")
      ->check(CLI::PositiveNumber);
  AddLimitFlags(command, arguments.limits);
}

Result<job::ModelInput> ReadInput(const Invocation& invocation, const ModelArguments& arguments) {
  job::ModelInput input{
      .batch = arguments.batch, .threads = arguments.threads, .limits = arguments.limits};
  OCTAVO_TRY(ModelFiles files, ReadModel(invocation.host, arguments.model));
  input.model = std::move(files.model);
  input.external_data = std::move(files.external);
  if (!arguments.data.empty()) {
    OCTAVO_TRY(SampleFiles samples, ReadSamples(arguments.data));
    input.samples = std::move(samples.samples);
  }
  job::Options options;
  for (const std::string& shape : arguments.shape) OCTAVO_CHECK(ParseShape(shape, options));
  input.shape = std::move(options.shape);
  return input;
}

void AddLocalFlags(CLI::App& command, Invocation& invocation) {
  AddCommonFlags(command, invocation);
  command.add_option_function<std::string>(
      "--server",
      [](const std::string&) {
        throw CLI::ValidationError("--server", "this command runs locally only");
      },
      "not for this command");
}

ProgressPrinter::Style ProgressStyle(const Invocation& invocation) {
  if (invocation.quiet || invocation.json) return ProgressPrinter::Style::kNone;
  return invocation.host.err_is_terminal ? ProgressPrinter::Style::kBar
                                         : ProgressPrinter::Style::kLines;
}

}  // namespace octavo::cli
