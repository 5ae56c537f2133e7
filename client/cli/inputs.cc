// SPDX-License-Identifier: Apache-2.0
#include "client/cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;

// The path of the external data file `location`.  The model is untrusted and must not read files
// outside its own folder.
Result<fs::path> Locate(const fs::path& folder, const std::string& location) {
  const fs::path relative(location);
  const auto outside = [&] {
    return Fail(Code::kInvalidArgument, "external data '{}' must be inside the model's folder",
                location)
        .Field(location)
        .Reason("EXTERNAL_DATA");
  };
  if (relative.empty() || relative.is_absolute()) return outside();
  for (const fs::path& part : relative) {
    if (part == "..") return outside();
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  const fs::path path = error ? fs::path() : fs::canonical(root / relative, error);
  if (error) {
    return Fail(Code::kUsage, "external data '{}' cannot be found: {}", location, error.message())
        .Field(location);
  }
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (end != root.end()) return outside();
  return path;
}

}  // namespace

Result<job::NamedBlob> ReadNamed(const std::string& path) {
  OCTAVO_TRY(Blob bytes, Blob::MapFile(path));
  return job::NamedBlob{.name = fs::path(path).filename().string(), .bytes = std::move(bytes)};
}

Result<ModelFiles> ReadModel(const Host& host, const std::string& path) {
  ModelFiles files;
  OCTAVO_TRY(files.model, ReadNamed(path));
  files.paths.push_back(path);
  OCTAVO_TRY(const auto external, host.list_external(files.model));
  const fs::path folder = fs::path(path).parent_path();
  for (const ExternalFile& needed : external) {
    OCTAVO_TRY(const fs::path file, Locate(folder, needed.path));
    OCTAVO_TRY(Blob bytes, Blob::MapFile(file.string()));
    files.external.push_back({.name = needed.name, .bytes = std::move(bytes)});
    files.paths.push_back((folder / needed.path).string());
  }
  return files;
}

}  // namespace octavo::cli
