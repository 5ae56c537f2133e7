// What the commands that look at or run one model share: the model, its samples, how to bind
// dynamic extents.
#pragma once

#include "client/cli/command.h"
#include "client/cli/progress_printer.h"
#include "core/job/execute.h"

namespace octavo::cli {

struct ModelArguments {
  std::string model = {};
  std::string data = {};
  std::vector<std::string> shape = {};
  int64_t batch = 0;
  int threads = 0;
  job::ModelLimits limits = {};
};

// --max-nodes and --max-value-bytes.
void AddLimitFlags(CLI::App& command, job::ModelLimits& limits);

enum class Data { kOptional, kRequired };
void AddModelFlags(CLI::App& command, ModelArguments& arguments, Data data);
// Reads the files that the arguments name.
Result<job::ModelInput> ReadInput(const Invocation& invocation, const ModelArguments& arguments);
// --server on the command line is a mistake for a command that runs here.
void AddLocalFlags(CLI::App& command, Invocation& invocation);

ProgressPrinter::Style ProgressStyle(const Invocation& invocation);

}  // namespace octavo::cli
