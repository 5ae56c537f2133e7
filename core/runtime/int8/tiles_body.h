// What the tiles_*.cc files share in plain C++.  All of it has internal linkage, because each of
// them is compiled for another instruction set.
#pragma once

#include "core/runtime/int8/tiles.h"

#if defined(__clang__)
#define OCTAVO_UNROLL _Pragma("unroll")
#else
#define OCTAVO_UNROLL _Pragma("GCC unroll 16")
#endif

namespace octavo::runtime::int8::internal {
namespace {

// Rounds to even for |x| < 2^22: the sum's last mantissa bit is worth 1.
inline int32_t RoundToEven(float x) {
  constexpr float kShift = 0x1.8p23f;
  const float shifted = x + kShift;
  return __builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, kShift);
}

// The code of x steps.
inline int32_t Requantized(float x, const Ending& ending) {
  const float low = static_cast<float>(ending.lowest - ending.zero_point);
  const float high = static_cast<float>(ending.highest - ending.zero_point);
  x = x < low ? low : x;
  x = x > high ? high : x;
  return RoundToEven(x) + ending.zero_point;
}

inline int32_t Requantize(int32_t acc, float multiplier, const Ending& ending) {
  return Requantized(static_cast<float>(acc) * multiplier, ending);
}

// Writes `count` sums as the ending says.  s8 codes are the low byte too.  Bytes may alias
// everything: an ending that is not the loop's own would keep it scalar.
inline void Finish(const int32_t* __restrict acc, const float* __restrict multipliers,
                   const Ending ending, int64_t count, void* out, int64_t offset) {
  switch (ending.output) {
    case Output::kU8:
    case Output::kS8: {
      uint8_t* __restrict codes = static_cast<uint8_t*>(out) + offset;
      for (int64_t i = 0; i < count; ++i) {
        codes[i] = static_cast<uint8_t>(Requantize(acc[i], multipliers[i], ending));
      }
      return;
    }
    case Output::kInt32: {
      int32_t* sums = static_cast<int32_t*>(out) + offset;
      for (int64_t i = 0; i < count; ++i) sums[i] = acc[i];
      return;
    }
    case Output::kFloat: {
      float* reals = static_cast<float*>(out) + offset;
      for (int64_t i = 0; i < count; ++i) reals[i] = static_cast<float>(acc[i]) * multipliers[i];
      return;
    }
  }
}

// The sum of a convolution's code without its zero point and an addend's, as the addition says.
inline uint8_t AddedCode(int32_t own, uint8_t addend, const AdditionEnding& addition) {
  const int32_t other = static_cast<uint8_t>(addend ^ addition.flip) - addition.addend_zero;
  const float sum =
      static_cast<float>(own) * addition.own_scale + static_cast<float>(other) * addition.scale;
  return static_cast<uint8_t>(Requantized(sum / addition.result_scale, addition.result));
}

// As Finish, for sums to which codes are added.
inline void FinishAdded(const int32_t* __restrict acc, const float* __restrict multipliers,
                        const Ending ending, const uint8_t* addend, const AdditionEnding addition,
                        int64_t count, uint8_t* codes) {
  for (int64_t i = 0; i < count; ++i) {
    const int32_t own = Requantize(acc[i], multipliers[i], ending) - ending.zero_point;
    codes[i] = AddedCode(own, addend[i], addition);
  }
}

inline int32_t WrappingSubtractProduct(int32_t a, int32_t b, int32_t c) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) -
                              static_cast<uint32_t>(b) * static_cast<uint32_t>(c));
}

// Ends the rows from `row` on of a call, whose sums lie in acc[row][width].
inline void FinishTile(const TileCall& call, int64_t row, int32_t* acc, int64_t width, int rows) {
  for (int r = 0; r < rows; ++r) {
    int32_t* sums = acc + r * width;
    for (int64_t c = 0; call.weight_zeros != nullptr && c < call.columns; ++c) {
      sums[c] = WrappingSubtractProduct(sums[c], call.weight_zeros[c], call.row_sums[row + r]);
    }
    const int64_t at = (row + r) * call.out_stride;
    if (call.addend == nullptr) {
      Finish(sums, call.multipliers, call.ending, call.columns, call.out, at);
      continue;
    }
    FinishAdded(sums, call.multipliers, call.ending, call.addend + (row + r) * call.addend_stride,
                *call.addition, call.columns, static_cast<uint8_t*>(call.out) + at);
  }
}

// Calls tile<rows>(call, row) for all rows from `row` on: tiles of kRows as long as they are full,
// then smaller ones.
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
    uint32_t acc[kChunk];  // may wrap on the way to a sum that fits
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
    Finish(reinterpret_cast<const int32_t*>(acc), call.multipliers + c, call.ending, count,
           call.out, c);
  }
}

}  // namespace
}  // namespace octavo::runtime::int8::internal
