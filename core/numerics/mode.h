// SPDX-License-Identifier: Apache-2.0
// A numerics mode: one row that fixes every rounding of integer arithmetic, in the runtime, in
// constant folding, in rewrite rules and in reports.  Each mode has its own file in this folder.
// Code that computes or proves something about quantized values queries the row, never the mode's
// name.
//
// A null member or an empty formula means that the mode does not define the operator (for these
// quantization parameters): the job then fails or leaves the operator in float.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "core/ir/attribute.h"
#include "core/ir/type.h"

namespace octavo::numerics {

// The quantization parameters of one channel.
struct ChannelQuant {
  float scale = 1;
  int32_t zero_point = 0;

  static ChannelQuant Of(const ir::Type& type, int64_t channel = 0) {
    return {type.quant->scale(channel), type.quant->zero_point(channel)};
  }
};

// ------------------------------------------------------------ formulas

// The quantized value of x before clamping to its storage type; NaN for NaN.
using QuantizeFunction = double (*)(float x, ChannelQuant to);

// Formulas are prepared once for given quantization parameters and then called for every element.

// Maps a stored value of one type to the stored value of another, before the clamp.  Monotone, and
// maps zero point to zero point.
using RescaleFormula = std::function<int64_t(int64_t value)>;
// Maps the sum of products of centered operands to the stored result, before the clamp.  A centered
// value is a stored value minus its zero point.
using RequantizeFormula = std::function<int64_t(int64_t sum)>;
// Maps one stored value, or two centered values, to the stored result.
using UnaryFormula = std::function<int32_t(int32_t value)>;
using BinaryFormula = std::function<int32_t(int32_t a, int32_t b)>;
// Maps a row of stored values to a row of stored results of the same length.
using RowFormula = std::function<void(std::span<const int32_t> x, std::span<int32_t> y)>;

// One window of an AveragePool.
struct PoolSum {
  int64_t sum = 0;     // of centered values
  int64_t inside = 0;  // taps inside the operand
  int64_t count = 0;   // the divisor of the mean
};
using PoolFormula = std::function<int32_t(const PoolSum& window)>;

// ------------------------------------------------------------ parameters of formulas

// The scales of one channel of a product, and the zero point of its result.
struct ProductQuant {
  float x = 1, w = 1, y = 1;
  int32_t zero_point = 0;
};

// The operands and the result of an elementwise operator: per-tensor, one width of 8 or 16 bits.
struct BinaryTypes {
  const ir::Type& a;
  const ir::Type& b;
  const ir::Type& y;
};

// All windows of a node's AveragePool.
struct PoolWindows {
  bool one_count = true;        // every window divides by `count`
  bool padding_counts = false;  // some window divides by more taps than are inside the operand
  bool empty = false;           // some window has no tap inside the operand
  int64_t count = 0;
};

struct ProductRow {
  std::string_view op;
  RequantizeFormula (*make)(const ProductQuant& quant);
};
struct UnaryRow {
  std::string_view op;
  UnaryFormula (*make)(const ir::Type& x, const ir::Type& y, const ir::AttrMap& attributes);
};
struct BinaryRow {
  std::string_view op;
  BinaryFormula (*make)(const BinaryTypes& types);
};

// Lookup tables for functions of one 8-bit operand: Quantize(f(x)) for the 256 real values x of
// `inputs`.
struct FunctionTables {
  // Writes the real values of consecutive stored values, starting with `first`.
  void (*inputs)(ChannelQuant quant, int32_t first, std::span<float> values) = nullptr;
  QuantizeFunction quantize = nullptr;
};

// ------------------------------------------------------------ the row

struct Mode {
  std::string_view name = {};

  // Both are always defined.
  QuantizeFunction quantize = nullptr;
  RescaleFormula (*rescale)(ChannelQuant from, ChannelQuant to) = nullptr;
  // Whether the mode supports a scale; null: it supports all scales.
  bool (*defines_scale)(float scale) = nullptr;

  // Products with requantized int32 sums: Conv, ConvTranspose, Gemm, MatMul, for 8-bit values.
  std::span<const ProductRow> products = {};
  // The same for signed 16-bit values with zero point 0 and 64-bit sums, for the ops of `products`.
  // Null: the mode defines only 8-bit storage.
  RequantizeFormula (*requantize_int16)(const ProductQuant& quant) = nullptr;
  // Add, Sub, Mul, Max, Min.
  std::span<const BinaryRow> binary = {};
  PoolFormula (*average_pool)(const ir::Type& x, const ir::Type& y,
                              const PoolWindows& windows) = nullptr;
  // Activations in the mode's own integer arithmetic, between per-tensor 8-bit types.
  std::span<const UnaryRow> unary = {};
  RowFormula (*softmax)(const ir::Type& x, const ir::Type& y, int64_t row) = nullptr;
  FunctionTables tables = {};

  // The arithmetic of ONNX's QLinear operators: products are requantized in float32, and every
  // other operator is Quantize(op(Dequantize)).  Vector kernels and fusions compute exactly this.
  bool qlinear = false;
  // Rescale(q) is Quantize(Dequantize(q)), bit for bit.
  bool rescale_is_quantize_of_dequantize = false;
  // A requantization may have an error of more than half a step.
  bool rounds_beyond_half = false;
  // Clip clamps in its operand's type, so a Rescale of the operand changes the bounds.
  bool clips_in_operand_type = false;
  // A MaxPool window entirely in padding gives the zero point; otherwise the least stored value.
  bool empty_pool_window_is_zero = false;
  // Glow's rule chooses asymmetric zero points.
  bool glow_zero_points = false;
};

// The default of all jobs; mode_table.h lists all modes.
extern const Mode kOnnx;

// ------------------------------------------------------------ queries

// The stored value of x in `mode`: NaN becomes the zero point, infinities saturate.
int32_t QuantizeOne(QuantizeFunction quantize, float x, ChannelQuant to, ir::IntegerRange range);

// Empty if the mode does not define the operator.
RequantizeFormula MakeProduct(const Mode& mode, std::string_view op, const ProductQuant& quant);
BinaryFormula MakeBinary(const Mode& mode, std::string_view op, const BinaryTypes& types);
UnaryFormula MakeUnary(const Mode& mode, std::string_view op, const ir::Type& x, const ir::Type& y,
                       const ir::AttrMap& attributes);

// Whether the mode's integer arithmetic applies to values of this type: 8 bits in every mode; 16
// bits only if signed with zero point 0 and if the mode has formulas for them.
bool DefinesStorage(const Mode& mode, const ir::Type& type);
// Whether the mode supports all scales of the type.
bool DefinesScales(const Mode& mode, const ir::Quant& quant);

}  // namespace octavo::numerics
