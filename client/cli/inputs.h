// SPDX-License-Identifier: Apache-2.0
// Reads the files of a command: a model with its external data, any other file.
#pragma once

#include <string>
#include <vector>

#include "client/cli/host.h"

namespace octavo::cli {

// Reads a file.  The blob's name is the file name without the folder.  kUsage if the file cannot be
// read.
Result<job::NamedBlob> ReadNamed(const std::string& path);

struct ModelFiles {
  job::NamedBlob model = {};
  std::vector<job::NamedBlob> external = {};
  std::vector<std::string> paths = {};  // of the model and all external data
};
// Reads a model with its external data.  kInvalidArgument if a file of external data is outside the
// model's folder, after resolving symbolic links; kUsage if a file is missing.
Result<ModelFiles> ReadModel(const Host& host, const std::string& path);

}  // namespace octavo::cli
