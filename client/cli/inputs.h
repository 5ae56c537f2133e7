// SPDX-License-Identifier: Apache-2.0
// Reads the files of a command: a model with its external data, samples, any other file.
#pragma once

#include <string>
#include <vector>

#include "client/cli/host.h"

namespace octavo::cli {

// A file's bytes under its name without the folder.  kUsage if it cannot be read.
Result<job::NamedBlob> ReadNamed(const std::string& path);

struct ModelFiles {
  job::NamedBlob model = {};
  std::vector<job::NamedBlob> external = {};
  std::vector<std::string> paths = {};  // of all of them
};
// External data must be inside the model's folder, symbolic links resolved: else kInvalidArgument.
// A missing file is kUsage.
Result<ModelFiles> ReadModel(const Host& host, const std::string& path);

struct SampleFiles {
  std::vector<job::NamedBlob> samples = {};
  std::vector<std::string> paths = {};
};
// A .npz, a .npy, a directory of samples in numbered folders, or "random:SEED[:N]", as
// job::Request::samples expects them.
Result<SampleFiles> ReadSamples(const std::string& data);

}  // namespace octavo::cli
