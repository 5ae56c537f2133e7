// SPDX-License-Identifier: Apache-2.0
// Softmax and normalizations of a row of quantized values: computed in double, rounded once to
// float, then quantized.  Each loop converts one block between two number formats, so that the
// compiler vectorizes it.  All of it has internal linkage.
#pragma once

#include "core/runtime/simd/quantize.h"

namespace octavo::runtime::simd {
namespace {

constexpr int64_t kBlock = 64;
constexpr int kLanes = 16;  // of sums; see core/ops/shared/normalize_rows.h

// Calls body(begin, count) for blocks that cover [0, count).
template <class Body>
inline void ForBlocks(int64_t count, const Body& body) {
  int64_t begin = 0;
  for (; begin + kBlock <= count; begin += kBlock) body(begin, kBlock);
  if (begin < count) body(begin, count - begin);
}

uint8_t MaxOf(const uint8_t* x, int64_t count, uint8_t flip) {
  uint8_t most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t value = x[i] ^ flip;
    most = value > most ? value : most;
  }
  return most;
}

void QuantizeQuotients(const double* __restrict x, int64_t count, double divisor, Quant quant,
                       uint8_t* __restrict y) {
  ForBlocks(count, [&](int64_t begin, int64_t length) {
    float values[kBlock];
    for (int64_t i = 0; i < length; ++i) values[i] = static_cast<float>(x[begin + i] / divisor);
    Quantize(values, length, quant, y + begin);
  });
}

void SumRows(const uint8_t* x, int64_t count, const double* const* numbers, double* kept,
             double* sums) {
  const double* table[kRowsTogether];
  const uint8_t* row[kRowsTogether];
  double sum[kRowsTogether] = {};
  for (int r = 0; r < kRowsTogether; ++r) {
    table[r] = numbers[r];
    row[r] = x + r * count;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int r = 0; r < kRowsTogether; ++r) {
      const double number = table[r][row[r][i]];
      kept[r * count + i] = number;
      sum[r] += number;
    }
  }
  for (int r = 0; r < kRowsTogether; ++r) sums[r] = sum[r];
}

using Floats = float __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));

// The sum of x, or of the squares of x - mean.  Element i is added to lane i modulo 16; the lanes
// are then added by halves.
template <bool kSquares>
inline double LaneSum(const uint8_t* x, int64_t count, const Quant& quant, double mean) {
  constexpr int kHalf = kLanes / 2;
  Doubles lanes[2] = {};
  const auto add = [&](Doubles& lane, const Floats& from) {
    Doubles off = __builtin_convertvector(from, Doubles);
    if constexpr (kSquares) {
      off -= mean;
      off *= off;
    }
    lane += off;
  };
  ForBlocks(count, [&](int64_t begin, int64_t length) {
    float values[kBlock];
    for (int64_t i = 0; i < length; ++i) values[i] = Dequantized(x[begin + i], quant);
    int64_t i = 0;
    for (; i + kLanes <= length; i += kLanes) {
      Floats low, high;
      __builtin_memcpy(&low, values + i, sizeof(low));
      __builtin_memcpy(&high, values + i + kHalf, sizeof(high));
      add(lanes[0], low);
      add(lanes[1], high);
    }
    for (int l = 0; i + l < length; ++l) {
      const double off = kSquares ? double{values[i + l]} - mean : double{values[i + l]};
      lanes[l / kHalf][l % kHalf] += kSquares ? off * off : off;
    }
  });
  lanes[0] += lanes[1];
  for (int half = kHalf / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lanes[0][l] += lanes[0][l + half];
  }
  return lanes[0][0];
}

double SumOfSquares(const uint8_t* x, int64_t count, Quant quant) {
  return LaneSum<true>(x, count, quant, 0);
}

Moments MomentsOf(const uint8_t* x, int64_t count, Quant quant, double epsilon) {
  const double length = static_cast<double>(count);
  const double mean = LaneSum<false>(x, count, quant, 0) / length;
  const double squares = LaneSum<true>(x, count, quant, mean);
  return {mean, 1 / __builtin_sqrt(squares / length + epsilon)};
}

void Normalize(const NormalizeCall& call) {
  const Quant x_quant = call.x_quant, y_quant = call.y_quant;
  const double mean = call.mean, factor = call.factor, offset = call.offset;
  ForBlocks(call.count, [&](int64_t begin, int64_t length) {
    float values[kBlock];
    const uint8_t* x = call.x + begin;
    uint8_t* y = call.y + begin;
    for (int64_t i = 0; i < length; ++i) values[i] = Dequantized(x[i], x_quant);
    if (call.scale != nullptr) {
      const double* scale = call.scale + begin;
      const double* shift = call.shift + begin;
      for (int64_t i = 0; i < length; ++i) {
        const double normal = (double{values[i]} - mean) * factor;
        values[i] = static_cast<float>(normal * scale[i] + shift[i]);
      }
    } else {
      for (int64_t i = 0; i < length; ++i) {
        values[i] = static_cast<float>((double{values[i]} - mean) * factor + offset);
      }
    }
    Quantize(values, length, y_quant, y);
  });
}

}  // namespace
}  // namespace octavo::runtime::simd
