// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/strided_copy.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace octavo::ops {
namespace {

// Grain size: minimum elements per task.
constexpr int64_t kGrain = 1 << 15;

// Drops extents of 1 and merges adjacent axes that both sides can address as one axis.
StridedCopy Simplify(const StridedCopy& copy) {
  StridedCopy simple;
  for (size_t i = 0; i < copy.extents.size(); ++i) {
    const int64_t extent = copy.extents[i];
    if (extent == 1) continue;
    const int64_t from = copy.from_strides[i], to = copy.to_strides[i];
    if (!simple.extents.empty() && simple.from_strides.back() == from * extent &&
        simple.to_strides.back() == to * extent) {
      simple.extents.back() *= extent;
      simple.from_strides.back() = from;
      simple.to_strides.back() = to;
      continue;
    }
    simple.extents.push_back(extent);
    simple.from_strides.push_back(from);
    simple.to_strides.push_back(to);
  }
  while (simple.extents.size() < 2) {
    simple.extents.insert(simple.extents.begin(), 1);
    simple.from_strides.insert(simple.from_strides.begin(), 0);
    simple.to_strides.insert(simple.to_strides.begin(), 0);
  }
  return simple;
}

#if defined(__SSE2__)
// Copies every second byte, starting with the first.  Returns the number of bytes done.
int64_t CopyEven(int64_t count, const uint8_t* from, uint8_t* to) {
  const __m128i even = _mm_set1_epi16(0xff);
  const auto load = [&](int64_t at) {
    return _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)), even);
  };
  int64_t i = 0;
  for (; i + 17 <= count; i += 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_packus_epi16(load(2 * i), load(2 * i + 16)));
  }
  return i;
}
#else
int64_t CopyEven(int64_t, const uint8_t*, uint8_t*) { return 0; }
#endif

template <class T>
void CopyRow(int64_t count, const std::byte* from, int64_t from_stride, std::byte* to,
             int64_t to_stride) {
  const T* source = reinterpret_cast<const T*>(from);
  T* target = reinterpret_cast<T*>(to);
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(target, source, count * sizeof(T));
    return;
  }
  int64_t i = 0;
  if constexpr (sizeof(T) == 1) {
    if (from_stride == 2 && to_stride == 1) i = CopyEven(count, source, target);
  }
  for (; i < count; ++i) target[i * to_stride] = source[i * from_stride];
}

// Copies rows of kPart to 2 * kPart adjacent bytes as two parts, the first and the last kPart
// bytes, which may overlap.
template <int64_t kPart>
void CopyShort(int64_t rows, int64_t bytes, const std::byte* from, int64_t from_step, std::byte* to,
               int64_t to_step) {
  for (int64_t i = 0; i < rows; ++i) {
    const std::byte* source = from + i * from_step;
    std::byte* target = to + i * to_step;
    std::memcpy(target, source, kPart);
    std::memcpy(target + bytes - kPart, source + bytes - kPart, kPart);
  }
}

using ShortCopy = void (*)(int64_t rows, int64_t bytes, const std::byte* from, int64_t from_step,
                           std::byte* to, int64_t to_step);

ShortCopy ShortCopyOf(int64_t bytes) {
  if (bytes < 2 || bytes > 64) return nullptr;
  if (bytes < 4) return &CopyShort<2>;
  if (bytes < 8) return &CopyShort<4>;
  if (bytes < 16) return &CopyShort<8>;
  return bytes <= 32 ? &CopyShort<16> : &CopyShort<32>;
}

// Copies the extents from `dim` on, starting at the given pointers.
template <class T>
void CopyFrom(const StridedCopy& copy, size_t dim, const std::byte* from, std::byte* to) {
  const int64_t from_step = copy.from_strides[dim] * static_cast<int64_t>(sizeof(T));
  const int64_t to_step = copy.to_strides[dim] * static_cast<int64_t>(sizeof(T));
  if (dim + 1 == copy.extents.size()) {
    CopyRow<T>(copy.extents[dim], from, copy.from_strides[dim], to, copy.to_strides[dim]);
    return;
  }
  if (dim + 2 == copy.extents.size() && copy.from_strides[dim + 1] == 1 &&
      copy.to_strides[dim + 1] == 1) {
    const int64_t bytes = copy.extents[dim + 1] * static_cast<int64_t>(sizeof(T));
    if (const ShortCopy short_copy = ShortCopyOf(bytes)) {
      return short_copy(copy.extents[dim], bytes, from, from_step, to, to_step);
    }
  }
  for (int64_t i = 0; i < copy.extents[dim]; ++i) {
    CopyFrom<T>(copy, dim + 1, from + i * from_step, to + i * to_step);
  }
}

template <class T>
void CopyAs(const StridedCopy& copy, const std::byte* from, std::byte* to, ThreadPool* pool) {
  const int64_t inner = ir::NumElements(copy.extents) / copy.extents[0];
  const auto part = [&](int64_t begin, int64_t end) {
    StridedCopy slice = copy;
    slice.extents[0] = end - begin;
    CopyFrom<T>(slice, 0, from + begin * copy.from_strides[0] * static_cast<int64_t>(sizeof(T)),
                to + begin * copy.to_strides[0] * static_cast<int64_t>(sizeof(T)));
  };
  if (pool == nullptr || inner * copy.extents[0] <= kGrain) {
    part(0, copy.extents[0]);
  } else {
    pool->For(copy.extents[0], std::max<int64_t>(1, kGrain / inner), part);
  }
}

}  // namespace

void Copy(const StridedCopy& copy, int element_size, const std::byte* from, std::byte* to,
          ThreadPool* pool) {
  if (ir::NumElements(copy.extents) == 0) return;
  const StridedCopy simple = Simplify(copy);
  switch (element_size) {
    case 1:
      return CopyAs<uint8_t>(simple, from, to, pool);
    case 2:
      return CopyAs<uint16_t>(simple, from, to, pool);
    case 4:
      return CopyAs<uint32_t>(simple, from, to, pool);
    default:
      return CopyAs<uint64_t>(simple, from, to, pool);
  }
}

void CopyAll(const ir::Tensor& from, ir::Tensor& to) {
  if (from.bytes() > 0) std::memcpy(to.mutable_raw(), from.raw(), from.bytes());
}

}  // namespace octavo::ops
