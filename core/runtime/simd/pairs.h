// SPDX-License-Identifier: Apache-2.0
// Sums of products of 16-bit integers, two taps at a time (PairCall).  All of it has internal
// linkage.
#pragma once

#include "core/runtime/simd/kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace octavo::runtime::simd {
namespace {

#if defined(__AVX512BW__)
struct PairLanes {
  using Vector = __m512i;
  static constexpr int kCount = 16;
  static Vector Zero() { return _mm512_setzero_si512(); }
  static Vector Load(const uint32_t* p) { return _mm512_loadu_si512(p); }
  static void Store(int32_t* p, Vector x) { _mm512_storeu_si512(p, x); }
  static Vector Add(Vector sum, Vector x, uint32_t weights) {
    const Vector both = _mm512_set1_epi32(static_cast<int32_t>(weights));
    return _mm512_add_epi32(sum, _mm512_madd_epi16(x, both));
  }
};
#elif defined(__AVX2__)
struct PairLanes {
  using Vector = __m256i;
  static constexpr int kCount = 8;
  static Vector Zero() { return _mm256_setzero_si256(); }
  static Vector Load(const uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const Vector*>(p));
  }
  static void Store(int32_t* p, Vector x) { _mm256_storeu_si256(reinterpret_cast<Vector*>(p), x); }
  static Vector Add(Vector sum, Vector x, uint32_t weights) {
    const Vector both = _mm256_set1_epi32(static_cast<int32_t>(weights));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, both));
  }
};
#else
int32_t LowHalf(uint32_t pair) { return static_cast<int16_t>(pair & 0xffffu); }
int32_t HighHalf(uint32_t pair) { return static_cast<int16_t>(pair >> 16); }

struct PairLanes {
  using Vector = int32_t;
  static constexpr int kCount = 1;
  static Vector Zero() { return 0; }
  static Vector Load(const uint32_t* p) { return static_cast<int32_t>(*p); }
  static void Store(int32_t* p, Vector x) { *p = x; }
  static Vector Add(Vector sum, Vector x, uint32_t weights) {
    const auto pair = static_cast<uint32_t>(x);
    return sum + LowHalf(pair) * LowHalf(weights) + HighHalf(pair) * HighHalf(weights);
  }
};
#endif

template <int kRows>
void SumPairs(const PairCall& call) {
  for (int lane = 0; lane < kPairLanes; lane += PairLanes::kCount) {
    PairLanes::Vector sums[kRows];
    for (int r = 0; r < kRows; ++r) sums[r] = PairLanes::Zero();
    for (int64_t p = 0; p < call.pairs; ++p) {
      const PairLanes::Vector x = PairLanes::Load(call.x + p * kPairLanes + lane);
      for (int r = 0; r < kRows; ++r) {
        sums[r] = PairLanes::Add(sums[r], x, call.weights[r * call.weight_step + p]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      int32_t lanes[PairLanes::kCount];
      PairLanes::Store(lanes, sums[r]);
      int64_t* to = call.sums + r * kPairLanes + lane;
      for (int i = 0; i < PairLanes::kCount; ++i) to[i] += lanes[i];
    }
  }
}

void AddPairs(const PairCall& call) {
  static_assert(kPairRows == 4);
  if (call.rows == 4) return SumPairs<4>(call);
  if (call.rows == 3) return SumPairs<3>(call);
  if (call.rows == 2) return SumPairs<2>(call);
  SumPairs<1>(call);
}

}  // namespace
}  // namespace octavo::runtime::simd
