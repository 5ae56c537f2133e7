// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution for AVX512-VNNI.  Image rows are interleaved, so that one vpdpbusd
// processes four vertical taps of 16 channels.  All of it has internal linkage.
#pragma once

#include "core/runtime/int8/vnni_requantize.h"

namespace octavo::runtime::int8::internal {
namespace {

// Writes 64 words of the rows' bytes at `from`; words beyond `count` are arbitrary.
inline void Interleave64(const uint8_t* const* rows, int64_t count, __m512i flip, uint32_t* out) {
  // Lane l of a row takes bytes 16j + 4l.. as its j-th group of four bytes, so that the lanes of
  // interleaved vector j hold 16 adjacent bytes.
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  __m512i row[4];
  if (count >= 64) {
    OCTAVO_UNROLL for (int r = 0; r < 4; ++r) row[r] = _mm512_loadu_si512(rows[r]);
  } else {
    const __mmask64 mask = (1ull << count) - 1;
    OCTAVO_UNROLL for (int r = 0; r < 4; ++r) row[r] = _mm512_maskz_loadu_epi8(mask, rows[r]);
  }
  OCTAVO_UNROLL for (int r = 0; r < 4; ++r) row[r] = _mm512_permutexvar_epi32(order, row[r]);
  const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(row[0], row[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(row[2], row[3]);
  const __m512i mixed[4] = {
      _mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
      _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
  OCTAVO_UNROLL for (int j = 0; j < 4; ++j) {
    _mm512_storeu_si512(out + 16 * j, _mm512_xor_si512(mixed[j], flip));
  }
}

void Interleave(const InterleaveCall& call) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(call.flip));
  const int64_t count = call.count;
  const uint8_t* rows[4] = {call.rows[0], call.rows[1], call.rows[2], call.rows[3]};
  uint32_t* out = call.out;
  for (int64_t piece = 0; piece < call.pieces; ++piece, out += call.out_step) {
    for (int64_t i = 0; i < count; i += 64) {
      const uint8_t* from[4] = {rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i};
      Interleave64(from, count - i, flip, out + i);
    }
    OCTAVO_UNROLL for (int r = 0; r < 4; ++r) rows[r] += call.steps[r];
  }
}

// Adds one column of taps to the sums of kPixels pixels, which are `step` apart.
template <int kVectors, int kPixels>
__attribute__((always_inline)) inline void AddColumn(const uint32_t* x, int64_t step,
                                                     const __m512i (&weights)[kVectors],
                                                     __m512i (&acc)[kPixels][kVectors]) {
  OCTAVO_UNROLL for (int i = 0; i < kPixels; ++i) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      DotProduct(acc[i][v], _mm512_loadu_si512(x + i * step + v * kVector), weights[v]);
    }
  }
}

// With kTaps 0, the number of taps is call.taps.
template <int kVectors, int kPixels, int kTaps, bool kPlain>
void Pixels(const InterleavedCall& shared) {
  const InterleavedCall call = shared;  // a copy that no store can alias
  constexpr int kKept = kTaps > 0 ? kTaps : 1;
  __m512i kept[kKept][kVectors];
  int64_t offsets[kKept];
  OCTAVO_UNROLL for (int t = 0; t < kTaps; ++t) {
    offsets[t] = call.offsets[t];
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      kept[t][v] = _mm512_loadu_si512(call.weights + (t * kVectors + v) * 64);
    }
  }
  const int64_t size = OutputSize(call.requantize.output);
  const BytePacker packer(call.requantize);
  const uint32_t* x = call.x;
  auto* out = static_cast<uint8_t*>(call.out);
  for (int64_t rest = call.pixels; rest > 0; rest -= kPixels) {
    __m512i acc[kPixels][kVectors];
    OCTAVO_UNROLL for (int i = 0; i < kPixels; ++i) {
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        acc[i][v] = _mm512_loadu_si512(call.bias + v * kVector);
      }
    }
    OCTAVO_UNROLL for (int t = 0; t < kTaps; ++t) {
      int64_t offset = offsets[t];
      asm("" : "+r"(offset));  // otherwise the compiler keeps an address per load
      AddColumn(x + offset, call.step, kept[t], acc);
    }
    const int8_t* weights = call.weights;
    for (int64_t t = 0; kTaps == 0 && t < call.taps; ++t, weights += kVectors * 64) {
      __m512i w[kVectors];
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        w[v] = _mm512_loadu_si512(weights + v * 64);
      }
      AddColumn(x + call.offsets[t], call.step, w, acc);
    }
    const TileOutput tile{.multipliers = call.multipliers,
                          .columns = call.channels,
                          .out = out,
                          .out_stride = call.out_stride,
                          .requantize = call.requantize};
    const int rows = rest < kPixels ? static_cast<int>(rest) : kPixels;
    if (size == 1) {
      StoreBytes<kPixels, kVectors, kPlain>(packer, tile, rows, acc);
    } else {
      StoreWords<kPixels, kVectors>(tile, rows, acc);
    }
    x += kPixels * call.step;
    out += kPixels * call.out_stride * size;
  }
}

template <int kVectors>
void PixelsOf(const InterleavedCall& call) {
  constexpr int kPixels = kRowsPacked<kVectors>;
  constexpr int kMore = kVectors == 4 ? 2 : kPixels;
  if (!call.requantize.is_plain) return Pixels<kVectors, kMore, 0, false>(call);
  if (call.taps == 3) return Pixels<kVectors, kPixels, 3, true>(call);
  Pixels<kVectors, kMore, 0, true>(call);
}

void Interleaved(const InterleavedCall& call) {
  if (call.channels > 48) return PixelsOf<4>(call);
  if (call.channels > 32) return PixelsOf<3>(call);
  call.channels > 16 ? PixelsOf<2>(call) : PixelsOf<1>(call);
}

}  // namespace
}  // namespace octavo::runtime::int8::internal
