// Reads what a command names: a model with the files beside it, samples, any file.
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
// A file beside the model must lie in the model's folder, and no link may lead out of it:
// kInvalidArgument; one that is not there is kUsage.
Result<ModelFiles> ReadModel(const Host& host, const std::string& path);

struct SampleFiles {
  std::vector<job::NamedBlob> samples = {};
  std::vector<std::string> paths = {};
};
// A .npz, a .npy, a directory of samples in numbered folders, or "random:SEED[:N]", in the form
// that job::Request::samples takes.
Result<SampleFiles> ReadSamples(const std::string& data);

}  // namespace octavo::cli
