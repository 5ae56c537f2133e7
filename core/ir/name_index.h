// SPDX-License-Identifier: Apache-2.0
// Finds entries of a vector by name.  A slot holds a name's hash and its entry's position; only the
// entry holds the name itself.  The index is therefore small and copied as plain bytes, and a
// look-up reads one slot and, if the hash matches, one entry.  An entry is any struct with a
// `name`.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace octavo::ir {

class NameIndex {
 public:
  // The position of the entry of that name, or -1.
  template <class Entry>
  int32_t Find(std::string_view name, const std::vector<Entry>& entries) const {
    if (slots_.empty()) return -1;
    const uint32_t hash = HashOf(name);
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.position < 0) return -1;
      if (slot.hash == hash && entries[slot.position].name == name) return slot.position;
    }
  }

  // Maps the name of entries[position] to this position unless the name is already mapped.
  template <class Entry>
  void Add(int32_t position, const std::vector<Entry>& entries) {
    const std::string_view name = entries[position].name;
    if (Find(name, entries) < 0) Insert({HashOf(name), position});
  }

  // Removes the name.
  template <class Entry>
  void Remove(std::string_view name, const std::vector<Entry>& entries) {
    const int32_t position = Find(name, entries);
    if (position >= 0) Vacate({HashOf(name), position});
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    int32_t position = -1;  // -1: empty slot
  };

  static uint32_t HashOf(std::string_view name) {
    const uint64_t hash = std::hash<std::string_view>()(name);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
  }
  size_t mask() const { return slots_.size() - 1; }
  void Insert(Slot slot);
  void Vacate(Slot slot);

  std::vector<Slot> slots_;  // size: a power of two; at least a third is empty
  size_t names_ = 0;
};

}  // namespace octavo::ir
