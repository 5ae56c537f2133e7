// SPDX-License-Identifier: Apache-2.0
// Vectors whose memory the system zeroes page by page when it is first written.  A std::vector
// writes its zeros at once, and for 200 MB that takes longer than a stop may wait.
#pragma once

#include <cstdlib>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace octavo::data {

template <class T>
struct ZeroedAllocator {
  using value_type = T;

  ZeroedAllocator() = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): the standard asks for it.
  ZeroedAllocator(const ZeroedAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    void* memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }

  template <class U>
  void construct(U*) {}  // the memory is zero
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  bool operator==(const ZeroedAllocator&) const { return true; }
};

// For numbers.  Elements of a new vector are zero; those of one that shrank and grows again keep
// what they were.
template <class T>
using ZeroedVector = std::vector<T, ZeroedAllocator<T>>;

}  // namespace octavo::data
