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

// of(x[i]) is added to the lane of i for all i; then lanes are added by halves.
template <class Of>
inline double LaneSum(const uint8_t* x, int64_t count, const Of& of) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += of(x[i + l]);
  }
  for (int l = 0; i + l < count; ++l) lanes[l] += of(x[i + l]);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

Moments MomentsOf(const uint8_t* x, int64_t count, Codes codes, double epsilon) {
  const double length = static_cast<double>(count);
  const double mean =
      LaneSum(x, count, [&](uint8_t code) { return double{Real(code, codes)}; }) / length;
  const double squares = LaneSum(x, count, [&](uint8_t code) {
    const double off = double{Real(code, codes)} - mean;
    return off * off;
  });
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
