// The int8 tiles for AVX-512 with VNNI: 6 rows x 64 channels in 24 accumulators, ended in
// registers.
#if defined(__x86_64__)
#include <immintrin.h>

#include "core/runtime/int8/tiles_body.h"

namespace octavo::runtime::int8::internal {
namespace {

// acc += four products of the unsigned bytes of x and the signed bytes of w.  As an intrinsic,
// GCC 12 copies and spills the accumulators, which halves the speed.
inline void DotProduct(__m512i& acc, __m512i x, __m512i w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(w));
}

inline int32_t Load4(const uint8_t* p) {
  int32_t x;
  __builtin_memcpy(&x, p, 4);
  return x;
}

inline __mmask16 MaskOf(int64_t count) {
  return count >= 16 ? 0xffff : static_cast<__mmask16>((1u << count) - 1);
}

// rne(min(acc * m, high)) in int32.  The lower bound may be applied later: a product below the
// int32 range converts to INT32_MIN, which has the right sign.
inline __m512i Scale(__m512i acc, __m512 multiplier, __m512 high) {
  return _mm512_cvtps_epi32(
      _mm512_min_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(acc), multiplier), high));
}

// Adds the zero point to four vectors of values, saturates them to bytes and applies the lower
// bound.  Bytes come out in the order [lane][vector][4].
inline __m512i PackCodes(const __m512i v[4], const Ending& ending) {
  const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(ending.zero_point));
  const __m512i a = _mm512_adds_epi16(_mm512_packs_epi32(v[0], v[1]), zero);
  const __m512i b = _mm512_adds_epi16(_mm512_packs_epi32(v[2], v[3]), zero);
  const __m512i lowest = _mm512_set1_epi8(static_cast<int8_t>(ending.lowest));
  if (ending.output == Output::kU8) return _mm512_max_epu8(_mm512_packus_epi16(a, b), lowest);
  return _mm512_max_epi8(_mm512_packs_epi16(a, b), lowest);
}

inline __m512 HighOf(const Ending& ending) {
  return _mm512_set1_ps(static_cast<float>(ending.highest - ending.zero_point));
}

template <int kRows, int kVectors>
inline void StoreCodes(const TileCall& call, const __m512i (&acc)[kRows][kVectors]) {
  const __m512 high = HighOf(call.ending);
  __m512 multipliers[kVectors];
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
    multipliers[v] = _mm512_loadu_ps(call.multipliers + v * kVector);
  }
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const __mmask64 mask = call.columns >= 64 ? ~0ull : (1ull << call.columns) - 1;
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    __m512i v[4];
    OCTAVO_UNROLL for (int i = 0; i < 4; ++i) {
      v[i] = i < kVectors ? Scale(acc[r][i % kVectors], multipliers[i % kVectors], high)
                          : _mm512_setzero_si512();
    }
    const __m512i codes = _mm512_permutexvar_epi32(order, PackCodes(v, call.ending));
    uint8_t* out = static_cast<uint8_t*>(call.out) + r * call.out_stride;
    if (kVectors == 4 && call.columns == 64) {
      _mm512_storeu_si512(out, codes);
    } else {
      _mm512_mask_storeu_epi8(out, mask, codes);
    }
  }
}

template <int kRows, int kVectors>
inline void StoreWords(const TileCall& call, const __m512i (&acc)[kRows][kVectors]) {
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      __m512i words = acc[r][v];
      if (call.ending.output == Output::kFloat) {
        words = _mm512_castps_si512(_mm512_mul_ps(_mm512_cvtepi32_ps(words),
                                                  _mm512_loadu_ps(call.multipliers + v * kVector)));
      }
      int32_t* out = static_cast<int32_t*>(call.out) + r * call.out_stride + v * kVector;
      _mm512_mask_storeu_epi32(out, MaskOf(call.columns - v * kVector), words);
    }
  }
}

template <int kRows, int kVectors>
void Tile(const TileCall& call) {
  __m512i acc[kRows][kVectors];
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
    acc[0][v] = _mm512_loadu_si512(call.bias + v * kVector);
    OCTAVO_UNROLL for (int r = 1; r < kRows; ++r) acc[r][v] = acc[0][v];
  }
  const int8_t* weights = static_cast<const int8_t*>(call.weights);
  for (int64_t s = 0; s < call.segments; ++s) {
    const uint8_t* rows[kRows];
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) rows[r] = call.rows[s * kMaxRows + r];
    for (int64_t q = 0; q < call.quads; ++q) {
      __m512i w[kVectors];
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        w[v] = _mm512_loadu_si512(weights + v * 64);
      }
      OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
        const __m512i x = _mm512_set1_epi32(Load4(rows[r] + 4 * q));
        OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) DotProduct(acc[r][v], x, w[v]);
      }
      weights += kVectors * 64;
    }
  }
  if (call.weight_zeros != nullptr) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      const __m512i zeros = _mm512_loadu_si512(call.weight_zeros + v * kVector);
      OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
        acc[r][v] = _mm512_sub_epi32(
            acc[r][v], _mm512_mullo_epi32(zeros, _mm512_set1_epi32(call.row_sums[r])));
      }
    }
  }
  if (OutputSize(call.ending.output) == 1) return StoreCodes<kRows, kVectors>(call, acc);
  StoreWords<kRows, kVectors>(call, acc);
}

// Interleaves four taps of 64 channels: out[j] has, per lane, channels 4j..4j+3 x 4 taps.
inline void Interleave(const __m512i tap[4], __m512i out[4]) {
  const __m512i low01 = _mm512_unpacklo_epi8(tap[0], tap[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(tap[0], tap[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(tap[2], tap[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(tap[2], tap[3]);
  out[0] = _mm512_unpacklo_epi16(low01, low23);
  out[1] = _mm512_unpackhi_epi16(low01, low23);
  out[2] = _mm512_unpacklo_epi16(high01, high23);
  out[3] = _mm512_unpackhi_epi16(high01, high23);
}

// Sums and multipliers of a block back in the order of the channels.
void FinishBlock(const DepthwiseCall& call, const __m512i acc[4], const float* multipliers,
                 int64_t channel, int64_t count) {
  int32_t sums[kBlock], ordered[kBlock];
  float scales[kBlock];
  for (int j = 0; j < 4; ++j) _mm512_storeu_si512(sums + j * 16, acc[j]);
  for (int i = 0; i < kBlock; ++i) {
    const int from = i % 16 / 4 * 16 + i / 16 * 4 + i % 4;
    ordered[i] = sums[from];
    scales[i] = multipliers[from];
  }
  Finish(ordered, scales, call.ending, count, call.out, channel);
}

void DepthwiseInterleaved(const DepthwiseCall& call) {
  const int8_t* weights = static_cast<const int8_t*>(call.weights);
  const __m512 high = HighOf(call.ending);
  const bool codes = OutputSize(call.ending.output) == 1;
  for (int64_t c = 0; c < call.channels; c += kBlock) {
    const int64_t count = call.channels - c < kBlock ? call.channels - c : kBlock;
    const __mmask64 mask = count == kBlock ? ~0ull : (1ull << count) - 1;
    __m512i acc[4];
    OCTAVO_UNROLL for (int j = 0; j < 4; ++j) acc[j] = _mm512_loadu_si512(call.bias + c + j * 16);
    for (int64_t g = 0; g < call.groups; ++g, weights += 4 * 64) {
      __m512i tap[4], mixed[4];
      OCTAVO_UNROLL for (int t = 0; t < 4; ++t) {
        tap[t] = _mm512_maskz_loadu_epi8(mask, call.taps[4 * g + t] + c);
      }
      Interleave(tap, mixed);
      OCTAVO_UNROLL for (int j = 0; j < 4; ++j) {
        DotProduct(acc[j], mixed[j], _mm512_loadu_si512(weights + j * 64));
      }
    }
    const float* multipliers = call.multipliers + c;
    if (!codes) {
      FinishBlock(call, acc, multipliers, c, count);
      continue;
    }
    __m512i v[4];
    OCTAVO_UNROLL for (int j = 0; j < 4; ++j) {
      v[j] = Scale(acc[j], _mm512_loadu_ps(multipliers + j * 16), high);
    }
    _mm512_mask_storeu_epi8(static_cast<uint8_t*>(call.out) + c, mask, PackCodes(v, call.ending));
  }
}

template <int kRows>
constexpr void FillRows(Tiles& tiles) {
  tiles.tile[kRows - 1][0] = &Tile<kRows, 1>;
  tiles.tile[kRows - 1][1] = &Tile<kRows, 2>;
  tiles.tile[kRows - 1][2] = &Tile<kRows, 3>;
  tiles.tile[kRows - 1][3] = &Tile<kRows, 4>;
  if constexpr (kRows > 1) FillRows<kRows - 1>(tiles);
}

constexpr Tiles MakeTiles() {
  Tiles tiles;
  tiles.rows = kMaxRows;
  tiles.vectors = kMaxVectors;
  tiles.depthwise = &Depthwise;
  tiles.depthwise_interleaved = &DepthwiseInterleaved;
  FillRows<kMaxRows>(tiles);
  return tiles;
}
constexpr Tiles kValue = MakeTiles();

}  // namespace

const Tiles kVnniTiles = kValue;

}  // namespace octavo::runtime::int8::internal
#endif
