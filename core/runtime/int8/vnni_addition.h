// Codes that are added to a tile's own before they are stored.  All of it has internal linkage.
#pragma once

#include "core/runtime/int8/vnni_codes.h"

namespace octavo::runtime::int8::internal {
namespace {

// The tile's own codes without zero point, as reals.
struct OwnCodes {
  explicit OwnCodes(const Ending& own)
      : low(_mm512_set1_ps(static_cast<float>(own.lowest - own.zero_point))),
        high(_mm512_set1_ps(static_cast<float>(own.highest - own.zero_point))) {}

  __m512 Of(__m512i acc, __m512 multiplier) const {
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), multiplier);
    const __m512 bounded = _mm512_max_ps(_mm512_min_ps(product, high), low);
    return _mm512_roundscale_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }

  __m512 low, high;
};

// An addition as it is defined.
struct Adder {
  explicit Adder(const AdditionEnding& addition)
      : own_scale(_mm512_set1_ps(addition.own_scale)),
        zero(_mm512_set1_ps(static_cast<float>(addition.addend_zero))),
        scale(_mm512_set1_ps(addition.scale)),
        divisor(_mm512_set1_ps(addition.result_scale)),
        inverse(_mm512_set1_ps(addition.inverse)),
        flip(_mm512_set1_epi32(addition.flip)) {}

  // x / divisor, correctly rounded.  The product with the inverse is within 2 units in the last
  // place; a fused remainder corrects it to within one, and a second one, which is exact then,
  // gives the rounded quotient (Markstein).
  __m512 Quotient(__m512 x) const {
    const __m512 near = _mm512_mul_ps(x, inverse);
    const __m512 nearer = _mm512_fmadd_ps(_mm512_fnmadd_ps(near, divisor, x), inverse, near);
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(nearer, divisor, x), inverse, nearer);
  }

  // Own codes, and bytes of the addend in words, to the result's codes without zero point.
  __m512i Add(__m512 own, __m512i bytes) const {
    const __m512 other = _mm512_cvtepi32_ps(_mm512_xor_si512(bytes, flip));
    const __m512 sum = _mm512_add_ps(_mm512_mul_ps(own, own_scale),
                                     _mm512_mul_ps(_mm512_sub_ps(other, zero), scale));
    return _mm512_cvtps_epi32(Quotient(sum));
  }

  __m512 own_scale, zero, scale, divisor, inverse;
  __m512i flip;
};

// An addition in its short form.
struct ShortAdder {
  explicit ShortAdder(const AdditionEnding& addition)
      : own_part(_mm512_set1_ps(addition.own_part)),
        addend_part(_mm512_set1_ps(addition.addend_part)),
        offset(_mm512_set1_ps(addition.offset)) {}

  __m512i Add(__m512 own, __m512i bytes) const {
    const __m512 other = _mm512_fmadd_ps(_mm512_cvtepi32_ps(bytes), addend_part, offset);
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(own, own_part, other));
  }

  __m512 own_part, addend_part, offset;
};

// Whether the short form gives the defined code for every pair.
bool IsRight(const Ending& own, const AdditionEnding& addition) {
  const Adder defined(addition);
  const ShortAdder shortened(addition);
  const __m512i low = _mm512_set1_epi32(addition.result.lowest - addition.result.zero_point);
  const __m512i high = _mm512_set1_epi32(addition.result.highest - addition.result.zero_point);
  const auto clamped = [&](__m512i codes) __attribute__((always_inline)) {
    return _mm512_min_epi32(_mm512_max_epi32(codes, low), high);
  };
  const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (int32_t code = own.lowest; code <= own.highest; ++code) {
    const __m512 mine = _mm512_set1_ps(static_cast<float>(code - own.zero_point));
    for (int32_t first = 0; first < 256; first += kVector) {
      const __m512i bytes = _mm512_add_epi32(steps, _mm512_set1_epi32(first));
      if (_mm512_cmpneq_epi32_mask(clamped(defined.Add(mine, bytes)),
                                   clamped(shortened.Add(mine, bytes))) != 0) {
        return false;
      }
    }
  }
  return true;
}

float Neighbour(float x, int32_t steps) {
  return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, x) + steps);
}

// Both forms round differently, which matters only where a sum lies next to the middle of two
// codes: of the factors next to the exact ones some pair is mostly right everywhere.
void Shorten(const Ending& own, AdditionEnding& addition) {
  constexpr int32_t kSteps[] = {0, 1, -1, 2, -2, 3, -3};
  if (addition.flip != 0) return;
  const float own_part = addition.own_scale / addition.result_scale;
  const float addend_part = addition.scale / addition.result_scale;
  for (const int32_t i : kSteps) {
    for (const int32_t j : kSteps) {
      addition.own_part = Neighbour(own_part, i);
      addition.addend_part = Neighbour(addend_part, j);
      addition.offset = -static_cast<float>(addition.addend_zero) * addition.addend_part;
      addition.is_short = IsRight(own, addition);
      if (addition.is_short) return;
    }
  }
}

struct TileAddend {
  const uint8_t* codes = nullptr;
  int64_t stride = 0;  // of rows
};

// 16 bytes as words; kAll: all of the mask's.
template <bool kAll>
inline __m512i LoadWords(const uint8_t* bytes, __mmask16 mask) {
  if constexpr (kAll) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
  }
  return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, bytes));
}

template <int kRows, int kVectors, bool kPlain, class AnyAdder>
inline void StoreAddedBy(const TileEnd& end, const TileAddend& addend,
                         const AdditionEnding& addition, const __m512i (&acc)[kRows][kVectors]) {
  const CodePacker packer(addition.result);
  const OwnCodes own(end.ending);
  const AnyAdder adder(addition);
  const __mmask64 mask = BytesOf(end.columns);
  PackAndStore<kRows, kVectors, kPlain>(
      packer, end, kRows, [&](int row, int vector) __attribute__((always_inline)) {
        const __m512 multiplier = _mm512_loadu_ps(end.multipliers + vector * kVector);
        const __m512i bytes =
            LoadWords<kPlain>(addend.codes + row * addend.stride + vector * kVector,
                              static_cast<__mmask16>(mask >> (vector * kVector)));
        return adder.Add(own.Of(acc[row][vector], multiplier), bytes);
      });
}

// As StoreCodes, for sums to which codes are added.
template <int kRows, int kVectors>
inline void StoreAdded(const TileEnd& end, const TileAddend& addend, const AdditionEnding& addition,
                       const __m512i (&acc)[kRows][kVectors]) {
  const bool is_whole = end.columns == kVectors * kVector && addition.result.is_plain;
  if (!addition.is_short) {
    return StoreAddedBy<kRows, kVectors, false, Adder>(end, addend, addition, acc);
  }
  if (is_whole) {
    return StoreAddedBy<kRows, kVectors, true, ShortAdder>(end, addend, addition, acc);
  }
  StoreAddedBy<kRows, kVectors, false, ShortAdder>(end, addend, addition, acc);
}

}  // namespace
}  // namespace octavo::runtime::int8::internal
