// SPDX-License-Identifier: Apache-2.0
// Vectors aligned to a cache line.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace octavo::runtime::int8::internal {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace octavo::runtime::int8::internal
