// SPDX-License-Identifier: Apache-2.0
#include "core/base/mapped_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "core/base/descriptor.h"
#include "core/base/sha256.h"

namespace octavo {
namespace {

// Sizes of the live mappings by address.
struct Mappings {
  std::mutex mutex = {};
  std::map<uintptr_t, size_t> sizes = {};
};

Mappings& LiveMappings() {
  static Mappings mappings;
  return mappings;
}

struct Mapping {
  void* address = nullptr;
  size_t size = 0;

  Mapping(void* at, size_t bytes) : address(at), size(bytes) {
    const std::scoped_lock lock(LiveMappings().mutex);
    LiveMappings().sizes.emplace(reinterpret_cast<uintptr_t>(address), size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    const std::scoped_lock lock(LiveMappings().mutex);
    LiveMappings().sizes.erase(reinterpret_cast<uintptr_t>(address));
    munmap(address, size);
  }
};

}  // namespace

Blob MapDescriptor(int file, size_t size) {
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (address == MAP_FAILED) return {};
  return Blob(std::make_shared<Mapping>(address, size),
              {static_cast<const std::byte*>(address), size});
}

void ReleasePages(std::span<const std::byte> bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const std::scoped_lock lock(LiveMappings().mutex);
  const auto after = LiveMappings().sizes.upper_bound(begin);
  if (after == LiveMappings().sizes.begin()) return;
  const auto [address, size] = *std::prev(after);
  if (begin + bytes.size() > address + size) return;
  const uintptr_t first = (begin + page - 1) / page * page;
  // No other mapping uses the rest of a mapping's last page.
  const uintptr_t end = begin + bytes.size();
  const uintptr_t last = end == address + size ? (end + page - 1) / page * page : end / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::string Sha256OfMapped(std::span<const std::byte> bytes) {
  constexpr size_t kPart = size_t{16} << 20;
  Sha256 hash;
  while (!bytes.empty()) {
    const std::span<const std::byte> part = bytes.first(std::min(kPart, bytes.size()));
    hash.Update(part);
    ReleasePages(part);
    bytes = bytes.subspan(part.size());
  }
  return hash.Finish();
}

namespace {

bool WriteAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

Blob CopyToMemory(std::span<const std::byte> bytes) {
  return Blob(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

}  // namespace

Blob CopyToFile(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return CopyToMemory(bytes);
  // mkostemp replaces the six X at the end of the name.
  std::string name = folder / "octavo-XXXXXX";
  const Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (file.fd < 0) return CopyToMemory(bytes);
  unlink(name.c_str());
  if (!WriteAll(file.fd, bytes)) return CopyToMemory(bytes);
  const Blob mapped = MapDescriptor(file.fd, bytes.size());
  return mapped.empty() ? CopyToMemory(bytes) : mapped;
}

}  // namespace octavo
