// SPDX-License-Identifier: Apache-2.0
#include "client/cli/outputs.h"

#include <filesystem>

#include "client/cli/external_files.h"

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;

bool StaysInside(const fs::path& relative) {
  if (relative.empty() || relative.is_absolute()) return false;
  for (const fs::path& part : relative) {
    if (part == ".." || part == ".") return false;
  }
  return relative.has_filename();
}

Status MakeFolder(const fs::path& folder) {
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) {
    return Fail(Code::kUsage, "cannot create the folder '{}': {}", folder.string(), error.message())
        .Field(folder.string());
  }
  return {};
}

Result<std::string> WriteOne(const fs::path& folder, const job::NamedBlob& blob) {
  if (!StaysInside(blob.name)) {
    return Fail(Code::kInternal, "a result is named '{}', which is not inside '{}'", blob.name,
                folder.string())
        .Reason("BAD_ANSWER");
  }
  const fs::path path = folder / blob.name;
  OCTAVO_CHECK(MakeFolder(path.parent_path()));
  OCTAVO_CHECK(WriteFile(path.string(), blob.bytes.bytes()));
  return path.string();
}

// Escapes a path for make: a blank ends a name, '#' begins a comment, '$' begins a variable.
std::string Escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    if (c == ' ' || c == '#' || c == '\\') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> WriteModel(const job::Outcome& outcome, const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  OCTAVO_CHECK(MakeFolder(folder));
  const bool text = outcome.model.name.ends_with(".graph");
  const fs::path external_folder = text ? fs::path(path + kPayloadFolder) : folder;
  std::vector<std::string> written;
  // Write the model last: if it exists, the result is complete.
  for (const job::NamedBlob& blob : outcome.external) {
    OCTAVO_TRY(std::string file, WriteOne(external_folder, blob));
    written.push_back(std::move(file));
  }
  OCTAVO_CHECK(WriteFile(path, outcome.model.bytes.bytes()));
  written.insert(written.begin(), path);
  return written;
}

Status WriteInto(const std::string& folder, const std::vector<job::NamedBlob>& blobs) {
  OCTAVO_CHECK(MakeFolder(folder));
  for (const job::NamedBlob& blob : blobs) OCTAVO_CHECK(WriteOne(folder, blob));
  return {};
}

Status WriteDepfile(const std::string& path, const std::string& target,
                    const std::vector<std::string>& inputs) {
  std::string text = Escaped(target) + ':';
  for (const std::string& input : inputs) text += " \\\n  " + Escaped(input);
  text += '\n';
  return WriteFile(path, std::string_view(text));
}

}  // namespace octavo::cli
