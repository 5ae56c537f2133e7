// SPDX-License-Identifier: Apache-2.0
#include "server/store/stored_file.h"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <utility>

namespace octavo::server {
namespace {

// Descriptors of the live mappings by owner.
struct Files {
  std::mutex mutex = {};
  std::map<const void*, std::pair<int, size_t>> known = {};
};

Files& LiveFiles() {
  static Files files;
  return files;
}

struct Mapping {
  std::shared_ptr<const Descriptor> file;
  void* address;
  size_t size;
  std::shared_ptr<const void> held;

  Mapping(std::shared_ptr<const Descriptor> opened, void* at, size_t bytes,
          std::shared_ptr<const void> also)
      : file(std::move(opened)), address(at), size(bytes), held(std::move(also)) {
    const std::scoped_lock lock(LiveFiles().mutex);
    LiveFiles().known[this] = {file->fd, size};
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    const std::scoped_lock lock(LiveFiles().mutex);
    LiveFiles().known.erase(this);
    munmap(address, size);
  }
};

}  // namespace

Blob MapStoredFile(std::shared_ptr<const Descriptor> file, size_t size,
                   std::shared_ptr<const void> held) {
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->fd, 0);
  if (address == MAP_FAILED) return {};
  auto mapping = std::make_shared<Mapping>(std::move(file), address, size, std::move(held));
  return Blob(std::move(mapping), {static_cast<const std::byte*>(address), size});
}

int FileOf(const Blob& blob) {
  const std::scoped_lock lock(LiveFiles().mutex);
  const auto found = LiveFiles().known.find(blob.owner().get());
  if (found == LiveFiles().known.end() || found->second.second != blob.size()) return -1;
  return found->second.first;
}

}  // namespace octavo::server
