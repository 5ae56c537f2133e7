// SPDX-License-Identifier: Apache-2.0
#include "core/ir/name_index.h"

#include <algorithm>

namespace octavo::ir {

void NameIndex::Insert(Slot slot) {
  constexpr size_t kLeastSlots = 16;
  if ((names_ + 1) * 3 > slots_.size() * 2) {
    std::vector<Slot> old(std::max(kLeastSlots, slots_.size() * 2));
    old.swap(slots_);
    names_ = 0;
    for (const Slot& other : old) {
      if (other.position >= 0) Insert(other);
    }
  }
  size_t at = slot.hash & mask();
  while (slots_[at].position >= 0) at = (at + 1) & mask();
  slots_[at] = slot;
  ++names_;
}

void NameIndex::Vacate(Slot slot) {
  size_t gap = slot.hash & mask();
  while (slots_[gap].position != slot.position) gap = (gap + 1) & mask();
  // Moves a later entry into the gap if its home slot is at or before the gap.
  for (size_t at = (gap + 1) & mask(); slots_[at].position >= 0; at = (at + 1) & mask()) {
    const size_t wanted = slots_[at].hash & mask();
    if (((at - wanted) & mask()) < ((at - gap) & mask())) continue;
    slots_[gap] = slots_[at];
    gap = at;
  }
  slots_[gap] = {};
  --names_;
}

}  // namespace octavo::ir
