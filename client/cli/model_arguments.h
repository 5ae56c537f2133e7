// SPDX-License-Identifier: Apache-2.0
// Arguments of commands that read one model: the model, its samples, its dynamic dimensions.
#pragma once

#include "client/cli/command.h"
#include "client/cli/option_flags.h"
#include "client/cli/progress_printer.h"
#include "client/cli/sample_files.h"
#include "core/job/execute.h"

namespace octavo::cli {

struct ModelArguments {
  std::string model = {};
  SampleArguments samples = {};
  OptionFlags options = {};  // of the model, of samples, threads and the command's own
  job::ModelLimits limits = {};
};

// Adds --max-nodes and --max-value-bytes.
void AddLimitFlags(CLI::App& command, job::ModelLimits& limits);

// Whether the command needs samples for a model that has inputs.
enum class Data { kOptional, kForInputs };
void AddModelFlags(CLI::App& command, ModelArguments& arguments, Data data);
// Reads the files that the arguments name.
Result<job::ModelInput> ReadInput(const Invocation& invocation, const ModelArguments& arguments);
// Adds the common flags, and a --server flag that fails with a usage error: the command runs only
// in this process.
void AddLocalFlags(CLI::App& command, Invocation& invocation);

}  // namespace octavo::cli
