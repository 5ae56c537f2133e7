// SPDX-License-Identifier: Apache-2.0
// TFLite's integer reference operators, for either rounding of its fixed-point multiplication.
#pragma once

#include "core/numerics/fixed_point.h"
#include "core/numerics/mode.h"

namespace octavo::numerics {

// The settings that a build of TFLite fixes.
struct TfliteRounding {
  int32_t (*multiply)(int64_t x, FixedPoint m);
  double greatest_input_multiplier;  // of Sigmoid, Tanh and Softmax
};

// round_half_away(x / s) + z
double TfliteQuantize(float x, ChannelQuant to);

RescaleFormula TfliteRescale(const TfliteRounding& rounding, ChannelQuant from, ChannelQuant to);
RequantizeFormula TfliteRequantize(const TfliteRounding& rounding, const ProductQuant& quant);
// For 64-bit sums; the multiplier is reduced to 16 bits, and its shift must be within [-31, 7].
RequantizeFormula TfliteRequantizeInt16(const ProductQuant& quant);

// Add (sign 1) and Sub (sign -1); 16-bit types must have zero points 0.
BinaryFormula TfliteAdd(const TfliteRounding& rounding, int sign, const BinaryTypes& types);
BinaryFormula TfliteMultiply(const TfliteRounding& rounding, const BinaryTypes& types);
// Max and Min: operands and result must have the same type.
BinaryFormula TfliteMaximum(const BinaryTypes& types);
BinaryFormula TfliteMinimum(const BinaryTypes& types);

// x and y must have the same type.  The sum of stored values over the taps inside the operand is
// divided with halves rounded away from zero.
PoolFormula TfliteAveragePool(const ir::Type& x, const ir::Type& y, const PoolWindows& windows);

// Activations between 8-bit types.  LeakyRelu and HardSwish keep the storage type; for Sigmoid,
// Tanh and Softmax, scale and zero point of the result are fixed.
UnaryFormula TfliteLeakyRelu(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y,
                             const ir::AttrMap& attributes);
UnaryFormula TfliteHardSwish(const ir::Type& x, const ir::Type& y);
UnaryFormula TfliteSigmoid(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y);
UnaryFormula TfliteTanh(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y);
RowFormula TfliteSoftmax(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y,
                         int64_t row);

}  // namespace octavo::numerics
