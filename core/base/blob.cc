// SPDX-License-Identifier: Apache-2.0
#include "core/base/blob.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "core/base/descriptor.h"
#include "core/base/input_files.h"
#include "core/base/mapped_pages.h"
#include "core/base/output_file.h"

namespace octavo {

Blob::Blob(std::string bytes) {
  auto held = std::make_shared<const std::string>(std::move(bytes));
  bytes_ = std::as_bytes(std::span(*held));
  owner_ = std::move(held);
}

Blob::Blob(std::vector<std::byte> bytes) {
  auto held = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  bytes_ = std::span(*held);
  owner_ = std::move(held);
}

Result<Blob> Blob::MapFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info = {};
  if (file.fd < 0 || fstat(file.fd, &info) != 0) {
    return Fail(Code::kUsage, "cannot read '{}': {}", path, std::strerror(errno)).Field(path);
  }
  if (!S_ISREG(info.st_mode)) {
    return Fail(Code::kUsage, "cannot read '{}': not a regular file", path).Field(path);
  }
  const auto size = static_cast<size_t>(info.st_size);
  auto input = NoteInputFile(path, info);
  if (size == 0) return Blob(std::string());
  const Blob mapped = MapDescriptor(file.fd, size, std::move(input));
  if (mapped.empty()) {
    return Fail(Code::kUsage, "cannot map '{}': {}", path, std::strerror(errno)).Field(path);
  }
  return mapped;
}

Status WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  auto file = OutputFile::Plan(path);
  Status done;
  if (file) done = file->Stage(Blob(nullptr, bytes));
  if (file && done) done = file->Commit();
  if (file && done) return {};
  Error error = file ? std::move(done).error() : std::move(file).error();
  error.code = Code::kUsage;
  return Forward(std::move(error));
}

Status WriteFile(const std::string& path, std::string_view text) {
  return WriteFile(path, std::as_bytes(std::span(text)));
}

}  // namespace octavo
