// Loops over rows of 8-bit codes, one table of functions per instruction set; all give the same
// bits.  Codes are read and written as u8: a signed one has its top bit flipped (`flip` 0x80) and
// its zero point raised by 128.
#pragma once

#include <cstdint>

namespace octavo::runtime::rows {

// How u8 codes stand for reals: ((code ^ flip) - zero_point) * scale.
struct Codes {
  float scale = 1;
  int32_t zero_point = 0;
  uint8_t flip = 0;
};

// y = Quantize(a op b) in float32, where an operand with step 0 is one code for all.
struct BinaryCall {
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;
  uint8_t* y = nullptr;
  int64_t count = 0;
  bool a_steps = true, b_steps = true;
  Codes a_codes = {}, b_codes = {}, y_codes = {};
};
using BinaryFunction = void (*)(const BinaryCall&);

// sums[i] = sum over t of weights[t] * x[offsets[t] + i] for i < count.  Reads up to kRowSlack
// elements beyond what it needs.
inline constexpr int64_t kRowSlack = 16;
struct ProductCall {
  const int32_t* x = nullptr;
  const int64_t* offsets = nullptr;
  const int32_t* weights = nullptr;
  int64_t taps = 0;
  int64_t count = 0;
  int64_t* sums = nullptr;
};

// Sums that run side by side, because one would wait for itself.
inline constexpr int kRowsTogether = 4;

struct Moments {
  double mean = 0, inverse_deviation = 0;
};

// y[i] = Quantize(float((x[i] - mean) * factor * scale[i] + shift[i])), in double from left to
// right; without `scale` it is (x[i] - mean) * factor + offset.
struct NormalizeCall {
  const uint8_t* x = nullptr;
  uint8_t* y = nullptr;
  int64_t count = 0;
  Codes x_codes = {}, y_codes = {};
  double mean = 0, factor = 1, offset = 0;
  const double* scale = nullptr;
  const double* shift = nullptr;
};

// y[p][c] = max over t of x[p * step + t * tap_step + c], flipped.  Reads up to kWindowSlack bytes
// beyond what it needs.
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
  Codes codes = {};
  uint8_t* y = nullptr;
};

struct Rows {
  BinaryFunction add = nullptr, subtract = nullptr, multiply = nullptr, divide = nullptr;
  // Elementwise on codes of one type; the calls' scales do not matter.
  BinaryFunction greatest = nullptr, least = nullptr;
  void (*quantize)(const float* x, int64_t count, Codes codes, uint8_t* y) = nullptr;
  void (*dequantize)(const uint8_t* x, int64_t count, Codes codes, float* y) = nullptr;
  // acc[i] = max(acc[i], x[i]) on flipped codes; sums[i] += x[i] ^ flip.
  void (*raise)(const uint8_t* x, int64_t count, uint8_t flip, uint8_t* acc) = nullptr;
  void (*sum)(const uint8_t* x, int64_t count, uint8_t flip, int32_t* sums) = nullptr;
  void (*greatest_of_windows)(const WindowCall&) = nullptr;
  // y[i] = Requantize(sums[i] - offset, multiplier)
  void (*finish)(const int32_t* sums, int64_t count, int32_t offset, float multiplier, Codes codes,
                 uint8_t* y) = nullptr;
  void (*mean_of_window)(const MeanCall&) = nullptr;
  // y[i] = table[x[i]]
  void (*look_up)(const uint8_t* x, int64_t count, const uint8_t* table, uint8_t* y) = nullptr;
  // The greatest of x[i] ^ flip, 0 if there is none.
  uint8_t (*greatest_of)(const uint8_t* x, int64_t count, uint8_t flip) = nullptr;
  // Of kRowsTogether rows behind each other, each with a table of 256 numbers: the numbers of its
  // codes and their sum in order.
  void (*row_sums)(const uint8_t* x, int64_t count, const double* const* numbers, double* kept,
                   double* sums) = nullptr;
  // y[i] = Quantize(float(x[i] / divisor))
  void (*quotients)(const double* x, int64_t count, double divisor, Codes codes,
                    uint8_t* y) = nullptr;
  // The sum of the squares of the reals, in the order of core/ops/normalize_rows.h.
  double (*squares)(const uint8_t* x, int64_t count, Codes codes) = nullptr;
  // Mean and 1 / sqrt(variance + epsilon) of the reals, with the sums of core/ops/normalize_rows.h.
  Moments (*moments)(const uint8_t* x, int64_t count, Codes codes, double epsilon) = nullptr;
  void (*normalize)(const NormalizeCall&) = nullptr;
  // Sums that fit 32 bits whatever the order, and any sums.
  void (*narrow_product)(const ProductCall&) = nullptr;
  void (*wide_product)(const ProductCall&) = nullptr;
};

extern const Rows kPortableRows;
#if defined(__x86_64__)
extern const Rows kAvx2Rows;
extern const Rows kAvx512Rows;
#endif

// The functions for CurrentIsa().
const Rows& CurrentRows();

}  // namespace octavo::runtime::rows
