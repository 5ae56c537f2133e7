// SPDX-License-Identifier: Apache-2.0
// The vector type of math_loops.cc for AVX-512.
#pragma once

#include <immintrin.h>

namespace octavo::math::internal {
namespace {

struct Vector {
  using Reg = __m512d;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;
  static Reg Load(const double* p) { return _mm512_loadu_pd(p); }
  static void Store(double* p, Reg x) { _mm512_storeu_pd(p, x); }
  static Reg Set(double x) { return _mm512_set1_pd(x); }
  static Reg Add(Reg a, Reg b) { return _mm512_add_pd(a, b); }
  static Reg Sub(Reg a, Reg b) { return _mm512_sub_pd(a, b); }
  static Reg Mul(Reg a, Reg b) { return _mm512_mul_pd(a, b); }
  static Reg Div(Reg a, Reg b) { return _mm512_div_pd(a, b); }
  static Reg Rint(Reg x) {
    constexpr int kAll = 0xff;  // the unmasked intrinsic reads an undefined vector in GCC 12
    return _mm512_maskz_roundscale_pd(kAll, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static Reg Abs(Reg x) { return _mm512_andnot_pd(Set(-0.0), x); }
  static Reg Negate(Reg x) { return _mm512_xor_pd(Set(-0.0), x); }
  // The magnitude of x >= 0 with the sign of y.
  static Reg CopySign(Reg x, Reg y) { return _mm512_or_pd(x, _mm512_and_pd(Set(-0.0), y)); }
  static Mask Less(Reg a, Reg b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  static Mask IsNan(Reg x) { return _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q); }
  static Mask Not(Mask m) { return static_cast<Mask>(~m); }
  static bool Any(Mask m) { return m != 0; }
  static Reg Select(Mask m, Reg yes, Reg no) { return _mm512_mask_blend_pd(m, no, yes); }
  // Two factors, because neither 2^1024 nor 2^-1075 is a normal number.
  static Reg TimesPowerOfTwo(Reg x, Reg k) {
    const __m256i exponent = _mm512_maskz_cvtpd_epi32(0xff, k);
    const __m256i half =
        _mm256_srai_epi32(_mm256_add_epi32(exponent, _mm256_srli_epi32(exponent, 31)), 1);
    x = _mm512_mul_pd(x, PowerOfTwo(half));
    return _mm512_mul_pd(x, PowerOfTwo(_mm256_sub_epi32(exponent, half)));
  }

 private:
  static Reg PowerOfTwo(__m256i k) {
    const __m256i biased = _mm256_add_epi32(k, _mm256_set1_epi32(1023));
    const __m512i wide = _mm512_maskz_cvtepi32_epi64(0xff, biased);
    return _mm512_castsi512_pd(_mm512_maskz_slli_epi64(0xff, wide, 52));
  }
};

}  // namespace
}  // namespace octavo::math::internal
