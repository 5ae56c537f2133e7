// SPDX-License-Identifier: Apache-2.0
// The vector type of tiles.cc for AVX-512.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace octavo::float_exec::internal {
namespace {

struct Vector {
  using Reg = __m512;
  static constexpr int kLanes = 16;
  static constexpr int kRows = 8;
  static constexpr int kPixels = 14;
  static constexpr bool kSquares = true;
  static constexpr bool kPicks = true;
  static Reg Zero() { return _mm512_setzero_ps(); }
  static Reg Load(const float* p) { return _mm512_loadu_ps(p); }
  static void Store(float* p, Reg x) { _mm512_storeu_ps(p, x); }
  static Reg LoadFirst(const float* p, int count) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
  }
  static void StoreFirst(float* p, Reg x, int count) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), x);
  }
  // Loads four floats each from p, p + stride, p + 2 * stride and p + 3 * stride.
  static Reg LoadFours(const float* p, int64_t stride) {
    Reg x = _mm512_castps128_ps512(_mm_loadu_ps(p));
    x = _mm512_insertf32x4(x, _mm_loadu_ps(p + stride), 1);
    x = _mm512_insertf32x4(x, _mm_loadu_ps(p + 2 * stride), 2);
    return _mm512_insertf32x4(x, _mm_loadu_ps(p + 3 * stride), 3);
  }
  // Transposes each 4 x 4 block of the four registers.
  static void TransposeFours(Reg (&x)[4]) {
    const auto low = [](Reg a, Reg b) { return _mm512_castps_pd(_mm512_unpacklo_ps(a, b)); };
    const auto high = [](Reg a, Reg b) { return _mm512_castps_pd(_mm512_unpackhi_ps(a, b)); };
    const __m512d a = low(x[0], x[1]), b = low(x[2], x[3]);
    const __m512d c = high(x[0], x[1]), d = high(x[2], x[3]);
    x[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
    x[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    x[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(c, d));
    x[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(c, d));
  }
  static Reg Even(Reg a, Reg b) {
    const __m512i at = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(a, at, b);
  }
  static Reg Odd(Reg a, Reg b) {
    const __m512i at = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(a, at, b);
  }
  // Selects for lane i the float columns[i] of both registers, or 0 if that index is negative.
  struct Picker {
    __m512i columns;
    __mmask16 some;
  };
  static Picker PickerOf(const int32_t* columns) {
    const __m512i at = _mm512_loadu_si512(columns);
    return {at, _mm512_cmpge_epi32_mask(at, _mm512_setzero_si512())};
  }
  static Reg Pick(Reg low, Reg high, const Picker& picker) {
    return _mm512_maskz_permutex2var_ps(picker.some, low, picker.columns, high);
  }
  static Reg Halves(float low, float high) {
    return _mm512_mask_broadcastss_ps(_mm512_set1_ps(low), 0xff00, _mm_set_ss(high));
  }
  static void StoreHalves(float* low, float* high, Reg x, int count) {
    const auto first = static_cast<__mmask8>((1u << count) - 1);
    _mm256_mask_storeu_ps(low, first, _mm512_castps512_ps256(x));
    _mm256_mask_storeu_ps(high, first, _mm512_maskz_extractf32x8_ps(0xff, x, 1));
  }
  static Reg Broadcast(float x) { return _mm512_set1_ps(x); }
  static Reg Add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
  static Reg Fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
};

}  // namespace
}  // namespace octavo::float_exec::internal
