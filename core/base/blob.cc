// SPDX-License-Identifier: Apache-2.0
#include "core/base/blob.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/base/descriptor.h"
#include "core/base/mapped_pages.h"

namespace octavo {
namespace {

// After each, the pages of a mapped blob that were written go.
constexpr size_t kWrittenPart = size_t{16} << 20;

}  // namespace

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
  if (size == 0) return Blob(std::string());
  const Blob mapped = MapDescriptor(file.fd, size);
  if (mapped.empty()) {
    return Fail(Code::kUsage, "cannot map '{}': {}", path, std::strerror(errno)).Field(path);
  }
  return mapped;
}

Status WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  const std::string temporary = fmt::format("{}.tmp{}", path, getpid());
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    for (std::span rest = bytes; !rest.empty() && file;) {
      const auto part = rest.first(std::min(kWrittenPart, rest.size()));
      file.write(reinterpret_cast<const char*>(part.data()),
                 static_cast<std::streamsize>(part.size()));
      ReleasePages(part);
      rest = rest.subspan(part.size());
    }
    file.flush();
    if (!file) {
      const int cause = errno;
      std::remove(temporary.c_str());
      return Fail(Code::kUsage, "cannot write '{}': {}", path, std::strerror(cause)).Field(path);
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int cause = errno;
    std::remove(temporary.c_str());
    return Fail(Code::kUsage, "cannot write '{}': {}", path, std::strerror(cause)).Field(path);
  }
  return {};
}

Status WriteFile(const std::string& path, std::string_view text) {
  return WriteFile(path, std::as_bytes(std::span(text)));
}

}  // namespace octavo
