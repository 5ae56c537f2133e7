// SPDX-License-Identifier: Apache-2.0
// The fused residual Add of a tile.  All of it has internal linkage.
#pragma once

#include "core/runtime/int8/vnni_requantize.h"

namespace octavo::runtime::int8::internal {
namespace {

// The tile's own results without zero point, as floats.
struct OwnValues {
  explicit OwnValues(const RequantizeParams& own)
      : low(_mm512_set1_ps(static_cast<float>(own.lowest - own.zero_point))),
        high(_mm512_set1_ps(static_cast<float>(own.highest - own.zero_point))) {}

  __m512 Of(__m512i acc, __m512 multiplier) const {
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), multiplier);
    const __m512 bounded = _mm512_max_ps(_mm512_min_ps(product, high), low);
    return _mm512_roundscale_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }

  __m512 low, high;
};

// The residual Add by its definition.
struct ExactAdder {
  explicit ExactAdder(const ResidualParams& residual)
      : own_scale(_mm512_set1_ps(residual.own_scale)),
        zero(_mm512_set1_ps(static_cast<float>(residual.addend_zero))),
        scale(_mm512_set1_ps(residual.scale)),
        divisor(_mm512_set1_ps(residual.result_scale)),
        inverse(_mm512_set1_ps(residual.inverse)),
        flip(_mm512_set1_epi32(residual.flip)) {}

  // x / divisor, correctly rounded.  The product with the inverse is within 2 units in the last
  // place; a fused remainder corrects it to within one, and a second remainder, which is then
  // exact, gives the rounded quotient (Markstein).
  __m512 Quotient(__m512 x) const {
    const __m512 near = _mm512_mul_ps(x, inverse);
    const __m512 nearer = _mm512_fmadd_ps(_mm512_fnmadd_ps(near, divisor, x), inverse, near);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(nearer, divisor, x), inverse, nearer);
  }

  // Adds `own` results and the addend's bytes, widened to int32; the result has no zero point.
  __m512i Add(__m512 own, __m512i bytes) const {
    const __m512 other = _mm512_cvtepi32_ps(_mm512_xor_si512(bytes, flip));
    const __m512 sum = _mm512_add_ps(_mm512_mul_ps(own, own_scale),
                                     _mm512_mul_ps(_mm512_sub_ps(other, zero), scale));
    return _mm512_cvtps_epi32(Quotient(sum));
  }

  __m512 own_scale, zero, scale, divisor, inverse;
  __m512i flip;
};

// The residual Add as two fused multiply-adds.
struct FmaAdder {
  explicit FmaAdder(const ResidualParams& residual)
      : own_factor(_mm512_set1_ps(residual.own_factor)),
        addend_factor(_mm512_set1_ps(residual.addend_factor)),
        offset(_mm512_set1_ps(residual.offset)) {}

  __m512i Add(__m512 own, __m512i bytes) const {
    const __m512 other = _mm512_fmadd_ps(_mm512_cvtepi32_ps(bytes), addend_factor, offset);
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(own, own_factor, other));
  }

  __m512 own_factor, addend_factor, offset;
};

// Whether the FMA form equals the definition for all pairs of operands.
bool IsExact(const RequantizeParams& own, const ResidualParams& residual) {
  const ExactAdder defined(residual);
  const FmaAdder fma(residual);
  const __m512i low = _mm512_set1_epi32(residual.result.lowest - residual.result.zero_point);
  const __m512i high = _mm512_set1_epi32(residual.result.highest - residual.result.zero_point);
  const auto clamped = [&](__m512i bytes) __attribute__((always_inline)) {
    return _mm512_min_epi32(_mm512_max_epi32(bytes, low), high);
  };
  const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (int32_t code = own.lowest; code <= own.highest; ++code) {
    const __m512 mine = _mm512_set1_ps(static_cast<float>(code - own.zero_point));
    for (int32_t first = 0; first < 256; first += kVector) {
      const __m512i bytes = _mm512_add_epi32(steps, _mm512_set1_epi32(first));
      if (_mm512_cmpneq_epi32_mask(clamped(defined.Add(mine, bytes)),
                                   clamped(fma.Add(mine, bytes))) != 0) {
        return false;
      }
    }
  }
  return true;
}

float Neighbour(float x, int32_t steps) {
  return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, x) + steps);
}

// The two forms round differently, which matters only if a sum is close to a tie.  For most
// parameters, some pair of factors within 3 ULP of the exact ones equals the definition everywhere.
void FindFmaForm(const RequantizeParams& own, ResidualParams& residual) {
  constexpr int32_t kSteps[] = {0, 1, -1, 2, -2, 3, -3};
  if (residual.flip != 0) return;
  const float own_factor = residual.own_scale / residual.result_scale;
  const float addend_factor = residual.scale / residual.result_scale;
  for (const int32_t i : kSteps) {
    for (const int32_t j : kSteps) {
      residual.own_factor = Neighbour(own_factor, i);
      residual.addend_factor = Neighbour(addend_factor, j);
      residual.offset = -static_cast<float>(residual.addend_zero) * residual.addend_factor;
      residual.uses_fma = IsExact(own, residual);
      if (residual.uses_fma) return;
    }
  }
}

struct TileAddend {
  const uint8_t* bytes = nullptr;
  int64_t stride = 0;  // between rows
};

// Loads 16 bytes widened to int32; kAll: the mask is full.
template <bool kAll>
inline __m512i LoadWords(const uint8_t* bytes, __mmask16 mask) {
  if constexpr (kAll) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
  }
  return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, bytes));
}

template <int kRows, int kVectors, bool kPlain, class AnyAdder>
inline void StoreWithResidualBy(const TileOutput& tile, const TileAddend& addend,
                                const ResidualParams& residual,
                                const __m512i (&acc)[kRows][kVectors]) {
  const BytePacker packer(residual.result);
  const OwnValues own(tile.requantize);
  const AnyAdder adder(residual);
  const __mmask64 mask = BytesOf(tile.columns);
  PackAndStore<kRows, kVectors, kPlain>(
      packer, tile, kRows, [&](int row, int vector) __attribute__((always_inline)) {
        const __m512 multiplier = _mm512_loadu_ps(tile.multipliers + vector * kVector);
        const __m512i bytes =
            LoadWords<kPlain>(addend.bytes + row * addend.stride + vector * kVector,
                              static_cast<__mmask16>(mask >> (vector * kVector)));
        return adder.Add(own.Of(acc[row][vector], multiplier), bytes);
      });
}

// Like StoreBytes, with the residual Add.
template <int kRows, int kVectors>
inline void StoreWithResidual(const TileOutput& tile, const TileAddend& addend,
                              const ResidualParams& residual,
                              const __m512i (&acc)[kRows][kVectors]) {
  const bool is_whole = tile.columns == kVectors * kVector && residual.result.is_plain;
  if (!residual.uses_fma) {
    return StoreWithResidualBy<kRows, kVectors, false, ExactAdder>(tile, addend, residual, acc);
  }
  if (is_whole) {
    return StoreWithResidualBy<kRows, kVectors, true, FmaAdder>(tile, addend, residual, acc);
  }
  StoreWithResidualBy<kRows, kVectors, false, FmaAdder>(tile, addend, residual, acc);
}

}  // namespace
}  // namespace octavo::runtime::int8::internal
