// SPDX-License-Identifier: Apache-2.0
// Requantizes sums in AVX-512 registers: scales and packs four vectors of 16 at a time.  All of it
// has internal linkage, because it is compiled for one instruction set.
#pragma once

#include <immintrin.h>

#include "core/runtime/int8/tiles_body.h"

namespace octavo::runtime::int8::internal {
namespace {

// acc += four products of the unsigned bytes of x and the signed bytes of w.  With the intrinsic,
// GCC 12 copies and spills the accumulators, which halves the speed.
inline void DotProduct(__m512i& acc, __m512i x, __m512i w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(w));
}

inline __mmask16 MaskOf(int64_t count) {
  return count >= 16 ? 0xffff : static_cast<__mmask16>((1u << count) - 1);
}

// RequantizeParams in registers.
struct BytePacker {
  explicit BytePacker(const RequantizeParams& requantize)
      : high(_mm512_set1_ps(static_cast<float>(requantize.highest - requantize.zero_point))),
        zero(_mm512_set1_epi16(static_cast<int16_t>(requantize.zero_point))),
        lowest(_mm512_set1_epi8(static_cast<int8_t>(requantize.lowest))),
        highest(_mm512_set1_epi8(static_cast<int8_t>(requantize.highest))),
        order(_mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0)),
        is_unsigned(requantize.output == Output::kU8),
        has_zero(requantize.zero_point != 0) {}

  // rne(acc * multiplier) in int32.  A product below the int32 range converts to INT32_MIN, which
  // has the right sign; a product above it does not, so products that can exceed the range are
  // clamped first.
  template <bool kPlain>
  __m512i Scale(__m512i acc, __m512 multiplier) const {
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), multiplier);
    return _mm512_cvtps_epi32(kPlain ? product : _mm512_min_ps(product, high));
  }

  // Packs four vectors of results without zero point to 64 bytes in order.  kWhole: the bounds are
  // those of u8, so saturation suffices.
  template <bool kWhole>
  __m512i Pack(__m512i v0, __m512i v1, __m512i v2, __m512i v3) const {
    __m512i a = _mm512_packs_epi32(v0, v1), b = _mm512_packs_epi32(v2, v3);
    if (has_zero) {
      a = _mm512_adds_epi16(a, zero);
      b = _mm512_adds_epi16(b, zero);
    }
    if constexpr (kWhole) return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(a, b));
    const __m512i bytes =
        is_unsigned ? _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(a, b), lowest), highest)
                    : _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(a, b), lowest), highest);
    return _mm512_permutexvar_epi32(order, bytes);
  }

  __m512 high;
  __m512i zero, lowest, highest, order;
  bool is_unsigned, has_zero;
};

// Stores part `part`, of 16 * kVectors bytes, of `bytes` under the mask.
template <int kVectors>
inline void StorePart(__m512i bytes, int part, __mmask64 mask, uint8_t* out) {
  if constexpr (kVectors >= 3) {
    _mm512_mask_storeu_epi8(out, mask, bytes);
  } else if constexpr (kVectors == 2) {
    const __m256i half =
        part == 0 ? _mm512_castsi512_si256(bytes) : _mm512_extracti64x4_epi64(bytes, 1);
    _mm256_mask_storeu_epi8(out, static_cast<__mmask32>(mask), half);
  } else {
    const __m128i quarter = part == 0   ? _mm512_castsi512_si128(bytes)
                            : part == 1 ? _mm512_extracti32x4_epi32(bytes, 1)
                            : part == 2 ? _mm512_extracti32x4_epi32(bytes, 2)
                                        : _mm512_extracti32x4_epi32(bytes, 3);
    _mm_mask_storeu_epi8(out, static_cast<__mmask16>(mask), quarter);
  }
}

// The destination of a tile: row r, vector v of 16 channels.
struct TileOutput {
  const float* multipliers = nullptr;
  int64_t columns = 0;
  void* out = nullptr;
  int64_t out_stride = 0;  // in elements
  const RequantizeParams& requantize;
};

// Rows per packing, so that all four vectors are used.
template <int kVectors>
inline constexpr int kRowsPacked = kVectors >= 3 ? 1 : 4 / kVectors;

inline __mmask64 BytesOf(int64_t columns) { return columns >= 64 ? ~0ull : (1ull << columns) - 1; }

// Stores the first `rows` of `kRows` rows.  words_of(row, vector) returns the results of a vector
// without zero point, as int32.
template <int kRows, int kVectors, bool kWhole, class WordsOf>
inline void PackAndStore(const BytePacker& packer, const TileOutput& tile, int rows,
                         WordsOf&& words_of) {
  constexpr int kPacked = kRowsPacked<kVectors>;
  const __mmask64 mask = BytesOf(tile.columns);
  OCTAVO_UNROLL for (int r = 0; r < kRows; r += kPacked) {
    __m512i v[4];
    OCTAVO_UNROLL for (int i = 0; i < 4; ++i) {
      const int row = r + i / kVectors, vector = i % kVectors;
      v[i] = _mm512_setzero_si512();
      if (i < kPacked * kVectors && row < kRows) v[i] = words_of(row < kRows ? row : 0, vector);
    }
    const __m512i bytes = packer.Pack<kWhole>(v[0], v[1], v[2], v[3]);
    OCTAVO_UNROLL for (int part = 0; part < kPacked; ++part) {
      if (r + part >= kRows || r + part >= rows) continue;
      StorePart<kVectors>(bytes, part, mask,
                          static_cast<uint8_t*>(tile.out) + (r + part) * tile.out_stride);
    }
  }
}

// kPlain is RequantizeParams::is_plain.
template <int kRows, int kVectors, bool kPlain>
inline void StoreBytes(const BytePacker& packer, const TileOutput& tile, int rows,
                       const __m512i (&acc)[kRows][kVectors]) {
  __m512 multipliers[kVectors];
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
    multipliers[v] = _mm512_loadu_ps(tile.multipliers + v * kVector);
  }
  PackAndStore<kRows, kVectors, kPlain>(
      packer, tile, rows, [&](int row, int vector) __attribute__((always_inline)) {
        return packer.Scale<kPlain>(acc[row][vector], multipliers[vector]);
      });
}

template <int kRows, int kVectors>
inline void StoreWords(const TileOutput& tile, int rows, const __m512i (&acc)[kRows][kVectors]) {
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    if (r >= rows) break;
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      __m512i words = acc[r][v];
      if (tile.requantize.output == Output::kFloat) {
        words = _mm512_castps_si512(_mm512_mul_ps(_mm512_cvtepi32_ps(words),
                                                  _mm512_loadu_ps(tile.multipliers + v * kVector)));
      }
      int32_t* out = static_cast<int32_t*>(tile.out) + r * tile.out_stride + v * kVector;
      _mm512_mask_storeu_epi32(out, MaskOf(tile.columns - v * kVector), words);
    }
  }
}

template <int kRows, int kVectors>
inline void StoreTile(const TileOutput& tile, int rows, const __m512i (&acc)[kRows][kVectors]) {
  if (OutputSize(tile.requantize.output) != 1) return StoreWords<kRows, kVectors>(tile, rows, acc);
  const BytePacker packer(tile.requantize);
  if (tile.requantize.is_plain) return StoreBytes<kRows, kVectors, true>(packer, tile, rows, acc);
  StoreBytes<kRows, kVectors, false>(packer, tile, rows, acc);
}

}  // namespace
}  // namespace octavo::runtime::int8::internal
