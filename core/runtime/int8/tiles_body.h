// SPDX-License-Identifier: Apache-2.0
// Plain C++ shared by the tiles_*.cc files.  All of it has internal linkage, because each of these
// files is compiled for another instruction set.
#pragma once

#include "core/runtime/int8/tiles.h"

#if defined(__clang__)
#define OCTAVO_UNROLL _Pragma("unroll")
#else
#define OCTAVO_UNROLL _Pragma("GCC unroll 16")
#endif

namespace octavo::runtime::int8::internal {
namespace {

// Rounds |x| < 2^22 to nearest, ties to even: the last mantissa bit of the sum has the value 1.
inline int32_t RoundToEven(float x) {
  constexpr float kShift = 0x1.8p23f;
  const float shifted = x + kShift;
  return __builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, kShift);
}

// The quantized value of x, where x is in units of the scale.
inline int32_t Requantized(float x, const RequantizeParams& requantize) {
  const float low = static_cast<float>(requantize.lowest - requantize.zero_point);
  const float high = static_cast<float>(requantize.highest - requantize.zero_point);
  x = x < low ? low : x;
  x = x > high ? high : x;
  return RoundToEven(x) + requantize.zero_point;
}

inline int32_t Requantize(int32_t acc, float multiplier, const RequantizeParams& requantize) {
  return Requantized(static_cast<float>(acc) * multiplier, requantize);
}

// Writes `count` requantized sums.  The low byte of the int32 is also the s8 result.  `requantize`
// is a copy: stores of bytes may alias anything, which would prevent vectorization.
inline void StoreRequantized(const int32_t* __restrict acc, const float* __restrict multipliers,
                             const RequantizeParams requantize, int64_t count, void* out,
                             int64_t offset) {
  switch (requantize.output) {
    case Output::kU8:
    case Output::kS8: {
      uint8_t* __restrict bytes = static_cast<uint8_t*>(out) + offset;
      for (int64_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<uint8_t>(Requantize(acc[i], multipliers[i], requantize));
      }
      return;
    }
    case Output::kInt32: {
      int32_t* sums = static_cast<int32_t*>(out) + offset;
      for (int64_t i = 0; i < count; ++i) sums[i] = acc[i];
      return;
    }
    case Output::kFloat: {
      float* floats = static_cast<float*>(out) + offset;
      for (int64_t i = 0; i < count; ++i) floats[i] = static_cast<float>(acc[i]) * multipliers[i];
      return;
    }
  }
}

// The residual Add of an addend and `own`, a result without its zero point.
inline uint8_t AddResidual(int32_t own, uint8_t addend, const ResidualParams& residual) {
  const int32_t other = static_cast<uint8_t>(addend ^ residual.flip) - residual.addend_zero;
  const float sum =
      static_cast<float>(own) * residual.own_scale + static_cast<float>(other) * residual.scale;
  return static_cast<uint8_t>(Requantized(sum / residual.result_scale, residual.result));
}

// Like StoreRequantized, for results that fuse a residual Add.
inline void StoreWithResidual(const int32_t* __restrict acc, const float* __restrict multipliers,
                              const RequantizeParams requantize, const uint8_t* addend,
                              const ResidualParams residual, int64_t count, uint8_t* bytes) {
  for (int64_t i = 0; i < count; ++i) {
    const int32_t own = Requantize(acc[i], multipliers[i], requantize) - requantize.zero_point;
    bytes[i] = AddResidual(own, addend[i], residual);
  }
}

inline int32_t WrappingSubtractProduct(int32_t a, int32_t b, int32_t c) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) -
                              static_cast<uint32_t>(b) * static_cast<uint32_t>(c));
}

// Requantizes and stores `rows` rows, starting at `row`; their sums are in acc[rows][width].
inline void StoreTileRows(const TileCall& call, int64_t row, int32_t* acc, int64_t width,
                          int rows) {
  for (int r = 0; r < rows; ++r) {
    int32_t* sums = acc + r * width;
    for (int64_t c = 0; call.weight_zeros != nullptr && c < call.columns; ++c) {
      sums[c] = WrappingSubtractProduct(sums[c], call.weight_zeros[c], call.row_sums[row + r]);
    }
    const int64_t at = (row + r) * call.out_stride;
    if (call.addend == nullptr) {
      StoreRequantized(sums, call.multipliers, call.requantize, call.columns, call.out, at);
      continue;
    }
    StoreWithResidual(sums, call.multipliers, call.requantize,
                      call.addend + (row + r) * call.addend_stride, *call.residual, call.columns,
                      static_cast<uint8_t*>(call.out) + at);
  }
}

// Calls tile<rows>(call, row) for all rows from `row`: full tiles of kRows rows first, then smaller
// ones.
template <int kRows, class Tile>
void ForTiles(const TileCall& call, int64_t row, Tile tile) {
  for (; row + kRows <= call.count; row += kRows) tile.template operator()<kRows>(call, row);
  if constexpr (kRows > 1) ForTiles<(kRows > 6 ? 6 : kRows - 1)>(call, row, tile);
}

inline void CopyFlipped(const uint8_t* __restrict from, int64_t count, uint8_t flip,
                        uint8_t* __restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
}

inline uint32_t Times(int32_t x, int32_t w) { return static_cast<uint32_t>(x * w); }

inline void Depthwise(const DepthwiseCall& call) {
  constexpr int64_t kChunk = 32;
  const uint8_t flip = call.flip;
  for (int64_t c = 0; c < call.channels; c += kChunk) {
    const int64_t count = call.channels - c < kChunk ? call.channels - c : kChunk;
    uint32_t acc[kChunk];  // may wrap before a final sum that fits
    for (int64_t i = 0; i < count; ++i) acc[i] = static_cast<uint32_t>(call.bias[c + i]);
    for (int64_t t = 0; t < call.count; ++t) {
      const uint8_t* x = call.taps[t] + c;
      const int16_t* w = call.weights + t * call.channels + c;
      if (count == kChunk) {
        for (int64_t i = 0; i < kChunk; ++i) acc[i] += Times(x[i] ^ flip, w[i]);
      } else {
        for (int64_t i = 0; i < count; ++i) acc[i] += Times(x[i] ^ flip, w[i]);
      }
    }
    StoreRequantized(reinterpret_cast<const int32_t*>(acc), call.multipliers + c, call.requantize,
                     count, call.out, c);
  }
}

}  // namespace
}  // namespace octavo::runtime::int8::internal
