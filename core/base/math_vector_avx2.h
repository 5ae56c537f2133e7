// SPDX-License-Identifier: Apache-2.0
// The vector type of math_loops.cc for AVX2.
#pragma once

#include <immintrin.h>

namespace octavo::math::internal {
namespace {

struct Vector {
  using Reg = __m256d;
  using Mask = __m256d;
  static constexpr int kLanes = 4;
  static Reg Load(const double* p) { return _mm256_loadu_pd(p); }
  static void Store(double* p, Reg x) { _mm256_storeu_pd(p, x); }
  static Reg Set(double x) { return _mm256_set1_pd(x); }
  static Reg Add(Reg a, Reg b) { return _mm256_add_pd(a, b); }
  static Reg Sub(Reg a, Reg b) { return _mm256_sub_pd(a, b); }
  static Reg Mul(Reg a, Reg b) { return _mm256_mul_pd(a, b); }
  static Reg Div(Reg a, Reg b) { return _mm256_div_pd(a, b); }
  static Reg Rint(Reg x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static Reg Abs(Reg x) { return _mm256_andnot_pd(Set(-0.0), x); }
  static Reg Negate(Reg x) { return _mm256_xor_pd(Set(-0.0), x); }
  // The magnitude of x >= 0 with the sign of y.
  static Reg CopySign(Reg x, Reg y) { return _mm256_or_pd(x, _mm256_and_pd(Set(-0.0), y)); }
  static Mask Less(Reg a, Reg b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
  static Mask IsNan(Reg x) { return _mm256_cmp_pd(x, x, _CMP_UNORD_Q); }
  static Mask Not(Mask m) { return _mm256_xor_pd(m, _mm256_castsi256_pd(_mm256_set1_epi64x(-1))); }
  static bool Any(Mask m) { return _mm256_movemask_pd(m) != 0; }
  static Reg Select(Mask m, Reg yes, Reg no) { return _mm256_blendv_pd(no, yes, m); }
  // Two factors, because neither 2^1024 nor 2^-1075 is a normal number.
  static Reg TimesPowerOfTwo(Reg x, Reg k) {
    const __m128i exponent = _mm256_cvtpd_epi32(k);
    const __m128i half = _mm_srai_epi32(_mm_add_epi32(exponent, _mm_srli_epi32(exponent, 31)), 1);
    x = _mm256_mul_pd(x, PowerOfTwo(half));
    return _mm256_mul_pd(x, PowerOfTwo(_mm_sub_epi32(exponent, half)));
  }

 private:
  static Reg PowerOfTwo(__m128i k) {
    const __m256i biased = _mm256_cvtepi32_epi64(_mm_add_epi32(k, _mm_set1_epi32(1023)));
    return _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
  }
};

}  // namespace
}  // namespace octavo::math::internal
