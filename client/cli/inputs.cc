// SPDX-License-Identifier: Apache-2.0
#include "client/cli/inputs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
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

// Parses the number of a sample's folder: "test_data_set_12" and "12" give 12.
std::optional<uint64_t> NumberOf(const std::string& folder) {
  static const std::regex pattern("(?:test_data_set_)?([0-9]{1,9})");
  std::smatch match;
  if (!std::regex_match(folder, match, pattern)) return std::nullopt;
  return std::stoull(match[1]);
}

bool IsInputFile(const std::string& name) {
  static const std::regex pattern(R"(input_[0-9]+\.(pb|npy)|[^.].*\.npy)");
  return std::regex_match(name, pattern) && !name.starts_with("output_");
}

Result<SampleFiles> ReadFolder(const fs::path& root) {
  std::map<uint64_t, fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) {
    const auto number = NumberOf(entry.path().filename().string());
    if (!number || !entry.is_directory()) continue;
    if (!folders.emplace(*number, entry.path()).second) {
      return Fail(Code::kUsage, "'{}' has two folders for sample {}", root.string(), *number)
          .Field("--data");
    }
  }
  SampleFiles files;
  for (const auto& [number, folder] : folders) {
    std::vector<fs::path> inputs;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (IsInputFile(entry.path().filename().string())) inputs.push_back(entry.path());
    }
    std::sort(inputs.begin(), inputs.end());
    for (const fs::path& input : inputs) {
      OCTAVO_TRY(job::NamedBlob blob, ReadNamed(input.string()));
      blob.name = fmt::format("{}/{}", number, blob.name);
      files.samples.push_back(std::move(blob));
      files.paths.push_back(input.string());
    }
  }
  if (files.samples.empty()) {
    return Fail(Code::kUsage,
                "'{}' has no samples; it must have folders '0', '1', .. or 'test_data_set_0', .. "
                "with input_K.pb or .npy",
                root.string())
        .Field("--data");
  }
  return files;
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

Result<SampleFiles> ReadSamples(const std::string& data) {
  static const std::regex random("random:[0-9]{1,18}(:[1-9][0-9]{0,8})?");
  if (data.starts_with("random:")) {
    if (!std::regex_match(data, random)) {
      return Fail(Code::kUsage, "--data '{}' must be random:SEED[:N]", data).Field("--data");
    }
    return SampleFiles{.samples = {{.name = data}}};
  }
  std::error_code error;
  if (fs::is_directory(data, error)) return ReadFolder(data);
  OCTAVO_TRY(job::NamedBlob blob, ReadNamed(data));
  if (!blob.name.ends_with(".npz") && !blob.name.ends_with(".npy")) {
    return Fail(Code::kUsage, "--data '{}' must be a .npz, a .npy, a directory or random:SEED[:N]",
                data)
        .Field("--data");
  }
  return SampleFiles{.samples = {std::move(blob)}, .paths = {data}};
}

}  // namespace octavo::cli
