// SPDX-License-Identifier: Apache-2.0
#include "core/base/mapped_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/sha256.h"

namespace octavo {
namespace {

// A mapped input file.  A signal handler reads the slots and can take no lock: `begin` is set last
// and cleared first, and blocks are never freed.
struct Slot {
  std::atomic<uintptr_t> begin = 0;  // 0: the slot is free
  std::atomic<uintptr_t> end = 0;
  std::atomic<const InputFile*> file = nullptr;
};
struct Block {
  std::array<Slot, 64> slots = {};
  Block* next = nullptr;
};
std::atomic<Block*> newest_block = nullptr;

// Sizes of the live mappings by address, and the slots that are free.
struct Mappings {
  std::mutex mutex = {};
  std::map<uintptr_t, size_t> sizes = {};
  std::vector<Slot*> free_slots = {};

  Slot* TakeSlot() {
    if (free_slots.empty()) {
      auto* block = new Block{.next = newest_block.load()};
      for (Slot& slot : block->slots) free_slots.push_back(&slot);
      newest_block.store(block);
    }
    Slot* slot = free_slots.back();
    free_slots.pop_back();
    return slot;
  }
};

Mappings& LiveMappings() {
  static Mappings mappings;
  return mappings;
}

struct Mapping {
  void* address = nullptr;
  size_t size = 0;
  std::shared_ptr<const InputFile> input = nullptr;
  Slot* slot = nullptr;  // of an input

  Mapping(void* at, size_t bytes, std::shared_ptr<const InputFile> file)
      : address(at), size(bytes), input(std::move(file)) {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const std::scoped_lock lock(LiveMappings().mutex);
    LiveMappings().sizes.emplace(begin, size);
    if (!input) return;
    slot = LiveMappings().TakeSlot();
    slot->file.store(input.get());
    slot->end.store(begin + size);
    slot->begin.store(begin);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    const std::scoped_lock lock(LiveMappings().mutex);
    LiveMappings().sizes.erase(reinterpret_cast<uintptr_t>(address));
    if (slot != nullptr) {
      slot->begin.store(0);
      LiveMappings().free_slots.push_back(slot);
    }
    munmap(address, size);
  }
};

}  // namespace

Blob MapDescriptor(int file, size_t size, std::shared_ptr<const InputFile> input) {
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (address == MAP_FAILED) return {};
  return Blob(std::make_shared<Mapping>(address, size, std::move(input)),
              {static_cast<const std::byte*>(address), size});
}

const InputFile* InputMappedAt(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Block* block = newest_block.load(); block != nullptr; block = block->next) {
    for (const Slot& slot : block->slots) {
      const uintptr_t begin = slot.begin.load();
      if (begin != 0 && begin <= at && at < slot.end.load()) return slot.file.load();
    }
  }
  return nullptr;
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
