// SPDX-License-Identifier: Apache-2.0
// Vector kernels over contiguous 8-bit quantized values.  Each instruction set has its own table of
// functions; all give the same bits.  Values are read and written as u8: an i8 value has its top
// bit flipped (`flip` 0x80) and 128 added to its zero point.
#pragma once

#include <cstdint>

namespace octavo::runtime::simd {

// The dequantized value is ((stored ^ flip) - zero_point) * scale.
struct Quant {
  float scale = 1;
  int32_t zero_point = 0;
  uint8_t flip = 0;
};

// y = Quantize(a op b) in float32.  An operand without `steps` has one value for all elements.
struct BinaryCall {
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;
  uint8_t* y = nullptr;
  int64_t count = 0;
  bool a_steps = true, b_steps = true;
  Quant a_quant = {}, b_quant = {}, y_quant = {};
};
using BinaryFunction = void (*)(const BinaryCall&);

// sums[i] = sum over t of weights[t] * x[offsets[t] + i] for i < count.  May read up to kRowSlack
// elements too far.
inline constexpr int64_t kRowSlack = 16;
struct ProductCall {
  const int32_t* x = nullptr;
  const int64_t* offsets = nullptr;
  const int32_t* weights = nullptr;
  int64_t taps = 0;
  int64_t count = 0;
  int64_t* sums = nullptr;
};

// Adds to sums[r][i], for r < rows <= kPairRows and i < kPairLanes, the sum over p < pairs of
//   low(weights[r][p]) * low(x[p][i]) + high(weights[r][p]) * high(x[p][i])
// where low and high are the signed 16-bit halves of a word.  Each sum must fit in 32 bits in any
// order.  Rows of weights are `weight_step` apart.
inline constexpr int kPairRows = 4, kPairLanes = 16;
struct PairCall {
  const uint32_t* x = nullptr;
  const uint32_t* weights = nullptr;
  int64_t weight_step = 0;
  int64_t pairs = 0;
  int64_t rows = 0;
  int64_t* sums = nullptr;
};

// Rows that are summed together, because the additions within one row depend on each other.
inline constexpr int kRowsTogether = 4;

struct Moments {
  double mean = 0, inverse_deviation = 0;
};

// y[i] = Quantize(float((x[i] - mean) * factor * scale[i] + shift[i])), in double from left to
// right.  Without `scale`: (x[i] - mean) * factor + offset.
struct NormalizeCall {
  const uint8_t* x = nullptr;
  uint8_t* y = nullptr;
  int64_t count = 0;
  Quant x_quant = {}, y_quant = {};
  double mean = 0, factor = 1, offset = 0;
  const double* scale = nullptr;
  const double* shift = nullptr;
};

// y[p][c] = max over t of x[p * step + t * tap_step + c], flipped.  May read up to kWindowSlack
// bytes too far.
inline constexpr int64_t kWindowSlack = 32;
struct WindowCall {
  const uint8_t* x = nullptr;
  int64_t step = 0, tap_step = 0;
  int64_t taps = 0;
  int64_t pixels = 0, channels = 0;
  uint8_t flip = 0;
  uint8_t* y = nullptr;
};

// y[c] = Requantize(sum over t of columns[t * tap_step + c] - offset, multiplier)
struct MeanCall {
  const int32_t* columns = nullptr;
  int64_t tap_step = 0, taps = 0;
  int64_t channels = 0;
  int32_t offset = 0;
  float multiplier = 0;
  Quant quant = {};
  uint8_t* y = nullptr;
};

struct Kernels {
  BinaryFunction add = nullptr, subtract = nullptr, multiply = nullptr, divide = nullptr;
  // Elementwise max and min.  All three types are equal, and the scales of the call are unused.
  BinaryFunction max = nullptr, min = nullptr;
  void (*quantize)(const float* x, int64_t count, Quant quant, uint8_t* y) = nullptr;
  void (*dequantize)(const uint8_t* x, int64_t count, Quant quant, float* y) = nullptr;
  // max_in_place: acc[i] = max(acc[i], x[i] ^ flip).  accumulate: sums[i] += x[i] ^ flip.
  void (*max_in_place)(const uint8_t* x, int64_t count, uint8_t flip, uint8_t* acc) = nullptr;
  void (*accumulate)(const uint8_t* x, int64_t count, uint8_t flip, int32_t* sums) = nullptr;
  void (*max_of_windows)(const WindowCall&) = nullptr;
  // y[i] = Requantize(sums[i] - offset, multiplier)
  void (*requantize)(const int32_t* sums, int64_t count, int32_t offset, float multiplier,
                     Quant quant, uint8_t* y) = nullptr;
  void (*mean_of_taps)(const MeanCall&) = nullptr;
  // y[i] = table[x[i]]
  void (*look_up)(const uint8_t* x, int64_t count, const uint8_t* table, uint8_t* y) = nullptr;
  // The greatest x[i] ^ flip; 0 for an empty range.
  uint8_t (*max_of)(const uint8_t* x, int64_t count, uint8_t flip) = nullptr;
  // Looks up kept[i] = numbers[row][x[i]] for kRowsTogether adjacent rows of `count` values, each
  // with a table of 256 numbers, and sums each row in order.
  void (*sum_rows)(const uint8_t* x, int64_t count, const double* const* numbers, double* kept,
                   double* sums) = nullptr;
  // y[i] = Quantize(float(x[i] / divisor))
  void (*quantize_quotients)(const double* x, int64_t count, double divisor, Quant quant,
                             uint8_t* y) = nullptr;
  // The sum of squares of the dequantized values, in the order of
  // core/ops/shared/normalize_rows.h.
  double (*sum_of_squares)(const uint8_t* x, int64_t count, Quant quant) = nullptr;
  // Mean and 1 / sqrt(variance + epsilon) of the dequantized values, with the sums of
  // core/ops/shared/normalize_rows.h.
  Moments (*moments)(const uint8_t* x, int64_t count, Quant quant, double epsilon) = nullptr;
  void (*normalize)(const NormalizeCall&) = nullptr;
  // narrow_product sums in 32 bits and requires sums that fit in any order; wide_product sums in
  // 64 bits.
  void (*narrow_product)(const ProductCall&) = nullptr;
  void (*wide_product)(const ProductCall&) = nullptr;
  void (*add_pairs)(const PairCall&) = nullptr;
};

namespace portable {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

// The functions for CurrentIsa().
const Kernels& CurrentKernels();

}  // namespace octavo::runtime::simd
