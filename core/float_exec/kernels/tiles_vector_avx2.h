// SPDX-License-Identifier: Apache-2.0
// The vector type of tiles.cc for AVX2 with FMA.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace octavo::float_exec::internal {
namespace {

struct Vector {
  using Reg = __m256;
  static constexpr int kLanes = 8;
  static constexpr int kRows = 4;
  static constexpr int kPixels = 6;
  static constexpr bool kSquares = true;
  static constexpr bool kPicks = false;
  static Reg Zero() { return _mm256_setzero_ps(); }
  static Reg Load(const float* p) { return _mm256_loadu_ps(p); }
  static void Store(float* p, Reg x) { _mm256_storeu_ps(p, x); }
  static __m256i First(int count) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes);
  }
  static Reg LoadFirst(const float* p, int count) { return _mm256_maskload_ps(p, First(count)); }
  static void StoreFirst(float* p, Reg x, int count) { _mm256_maskstore_ps(p, First(count), x); }
  // Loads the four floats at p and the four at p + stride.
  static Reg LoadFours(const float* p, int64_t stride) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride),
                                1);
  }
  // Transposes each 4 x 4 block of the four registers.
  static void TransposeFours(Reg (&x)[4]) {
    const auto low = [](Reg a, Reg b) { return _mm256_castps_pd(_mm256_unpacklo_ps(a, b)); };
    const auto high = [](Reg a, Reg b) { return _mm256_castps_pd(_mm256_unpackhi_ps(a, b)); };
    const __m256d a = low(x[0], x[1]), b = low(x[2], x[3]);
    const __m256d c = high(x[0], x[1]), d = high(x[2], x[3]);
    x[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
    x[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
    x[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(c, d));
    x[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(c, d));
  }
  static Reg InOrder(Reg x) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8));
  }
  static Reg Even(Reg a, Reg b) { return InOrder(_mm256_shuffle_ps(a, b, 0x88)); }
  static Reg Odd(Reg a, Reg b) { return InOrder(_mm256_shuffle_ps(a, b, 0xdd)); }
  static Reg Broadcast(float x) { return _mm256_set1_ps(x); }
  static Reg Add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
  static Reg Fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
};

}  // namespace
}  // namespace octavo::float_exec::internal
