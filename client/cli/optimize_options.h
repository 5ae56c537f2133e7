// The flags of `octavo optimize` that are the job's options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/job/options.h"

namespace octavo::cli {

// As the flags are written; Finish makes them options.
struct OptimizeFlags {
  job::Options options = {};
  bool per_channel = false;
  bool per_tensor = false;
  std::vector<std::string> shapes = {};  // NAME=1,3,224,224
  std::vector<std::string> passes = {};  // PASS,...
};

// Closed sets are checked while parsing; a wrong value is a usage error that names the flag.
void AddJobFlags(CLI::App& command, OptimizeFlags& flags);

// kUsage with the flag as the field.
Result<job::Options> FinishOptions(const OptimizeFlags& flags);

// Adds one NAME=D,D,.. to the options' shapes; kUsage for a wrong or repeated one.
Status ParseShape(const std::string& text, job::Options& options);

}  // namespace octavo::cli
