// SPDX-License-Identifier: Apache-2.0
// The widest vector of bytes of the target instruction set.  All of it has internal linkage.
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace octavo::runtime::simd {
namespace {

#if defined(__AVX512BW__)
struct ByteVector {
  using Vector = __m512i;
  static constexpr int64_t kCount = 64;
  static Vector Load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static void Store(uint8_t* p, Vector x) { _mm512_storeu_si512(p, x); }
};
#elif defined(__AVX2__)
struct ByteVector {
  using Vector = __m256i;
  static constexpr int64_t kCount = 32;
  static Vector Load(const uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const Vector*>(p));
  }
  static void Store(uint8_t* p, Vector x) { _mm256_storeu_si256(reinterpret_cast<Vector*>(p), x); }
};
#endif

}  // namespace
}  // namespace octavo::runtime::simd
