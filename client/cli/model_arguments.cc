// SPDX-License-Identifier: Apache-2.0
#include "client/cli/model_arguments.h"

#include "client/cli/image_file.h"
#include "client/cli/inputs.h"
#include "client/cli/validators.h"

namespace octavo::cli {
void AddLimitFlags(CLI::App& command, job::ModelLimits& limits) {
  command
      .add_option("--max-nodes", limits.nodes,
                  "maximum nodes of a model that is read in this process; 0: no limit")
      ->check(WholeNumber(0))
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option("--max-value-bytes", limits.value_bytes,
                  "maximum size of a tensor that is computed in this process; 0: no limit")
      ->check(WholeNumber(0))
      ->capture_default_str()
      ->type_name("BYTES");
}

void AddModelFlags(CLI::App& command, ModelArguments& arguments, Data data) {
  command.add_option("MODEL", arguments.model, "the model: .onnx, .octavo or .graph")->required();
  AddDataFlag(command, arguments.samples,
              data == Data::kForInputs ? "samples; needed if the model has inputs" : "samples");
  AddValuesFlag(command, arguments.samples);
  for (const char* option :
       {"shape", "batch", "image", "cast", "samples", "threads", "strict_ops"}) {
    arguments.options.Add(command, option);
  }
  AddLimitFlags(command, arguments.limits);
}

Result<job::ModelInput> ReadInput(const Invocation& invocation, const ModelArguments& arguments) {
  OCTAVO_TRY(Options options, arguments.options.Read());
  OCTAVO_CHECK(ReadImageFile(options));
  job::ModelInput input{
      .shape = options.shape,
      .batch = options.batch,
      .threads = options.threads,
      .limits = arguments.limits,
      .numerics = options.numerics.value_or(&numerics::kOnnx),
      .reading = {.image = options.image, .cast = options.cast, .samples = options.samples},
      .strict_ops = options.strict_ops,
      .allow_non_finite = options.allow_non_finite};
  OCTAVO_TRY(ModelFiles files, ReadModel(invocation.host, arguments.model));
  input.model = std::move(files.model);
  input.external_data = std::move(files.external);
  OCTAVO_TRY(SampleFiles samples, ReadSamples(arguments.samples, invocation.host.stop));
  input.samples = std::move(samples.samples);
  return input;
}

void AddLocalFlags(CLI::App& command, Invocation& invocation) {
  AddCommonFlags(command, invocation);
  const auto refuse = [](const std::string&) {
    throw CLI::ValidationError("--server", "this command runs locally only");
  };
  command.add_option_function<std::string>("--server", refuse, "not supported by this command")
      ->group("");  // not in the help
}

}  // namespace octavo::cli
