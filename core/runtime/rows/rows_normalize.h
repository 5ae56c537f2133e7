// Softmax and normalizations of rows of codes: arithmetic in double, rounded once to float, then to
// a code.  Blocks of one kind of number each let the compiler make vectors of every loop.  All of
// it has internal linkage.
#pragma once

#include "core/runtime/rows/rows_code.h"

namespace octavo::runtime::rows {
namespace {

constexpr int64_t kBlock = 64;
constexpr int kLanes = 16;  // of sums; see core/ops/normalize_rows.h

// Calls body(begin, count) for blocks that cover [0, count).
template <class Body>
inline void ForBlocks(int64_t count, const Body& body) {
  int64_t begin = 0;
  for (; begin + kBlock <= count; begin += kBlock) body(begin, kBlock);
  if (begin < count) body(begin, count - begin);
}

uint8_t GreatestOf(const uint8_t* x, int64_t count, uint8_t flip) {
  uint8_t most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t code = x[i] ^ flip;
    most = code > most ? code : most;
  }
  return most;
}

void Quotients(const double* __restrict x, int64_t count, double divisor, Codes codes,
               uint8_t* __restrict y) {
  ForBlocks(count, [&](int64_t begin, int64_t length) {
    float reals[kBlock];
    for (int64_t i = 0; i < length; ++i) reals[i] = static_cast<float>(x[begin + i] / divisor);
    Quantize(reals, length, codes, y + begin);
  });
}

void RowSums(const uint8_t* x, int64_t count, const double* const* numbers, double* kept,
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

// The sum of x, or of the squares of x - mean, with element i in lane i modulo 16 of the lanes,
// which are added by halves.
template <bool kSquares>
inline double LaneSum(const uint8_t* x, int64_t count, const Codes& codes, double mean) {
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
    float reals[kBlock];
    for (int64_t i = 0; i < length; ++i) reals[i] = Real(x[begin + i], codes);
    int64_t i = 0;
    for (; i + kLanes <= length; i += kLanes) {
      Floats low, high;
      __builtin_memcpy(&low, reals + i, sizeof(low));
      __builtin_memcpy(&high, reals + i + kHalf, sizeof(high));
      add(lanes[0], low);
      add(lanes[1], high);
    }
    for (int l = 0; i + l < length; ++l) {
      const double off = kSquares ? double{reals[i + l]} - mean : double{reals[i + l]};
      lanes[l / kHalf][l % kHalf] += kSquares ? off * off : off;
    }
  });
  lanes[0] += lanes[1];
  for (int half = kHalf / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lanes[0][l] += lanes[0][l + half];
  }
  return lanes[0][0];
}

double SquaresOf(const uint8_t* x, int64_t count, Codes codes) {
  return LaneSum<true>(x, count, codes, 0);
}

Moments MomentsOf(const uint8_t* x, int64_t count, Codes codes, double epsilon) {
  const double length = static_cast<double>(count);
  const double mean = LaneSum<false>(x, count, codes, 0) / length;
  const double squares = LaneSum<true>(x, count, codes, mean);
  return {mean, 1 / __builtin_sqrt(squares / length + epsilon)};
}

void Normalize(const NormalizeCall& call) {
  const Codes x_codes = call.x_codes, y_codes = call.y_codes;
  const double mean = call.mean, factor = call.factor, offset = call.offset;
  ForBlocks(call.count, [&](int64_t begin, int64_t length) {
    float reals[kBlock];
    const uint8_t* x = call.x + begin;
    uint8_t* y = call.y + begin;
    for (int64_t i = 0; i < length; ++i) reals[i] = Real(x[i], x_codes);
    if (call.scale != nullptr) {
      const double* scale = call.scale + begin;
      const double* shift = call.shift + begin;
      for (int64_t i = 0; i < length; ++i) {
        const double normal = (double{reals[i]} - mean) * factor;
        reals[i] = static_cast<float>(normal * scale[i] + shift[i]);
      }
    } else {
      for (int64_t i = 0; i < length; ++i) {
        reals[i] = static_cast<float>((double{reals[i]} - mean) * factor + offset);
      }
    }
    Quantize(reals, length, y_codes, y);
  });
}

}  // namespace
}  // namespace octavo::runtime::rows
