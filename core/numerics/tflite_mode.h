// SPDX-License-Identifier: Apache-2.0
// Builds the row of a mode that follows TFLite's reference operators with one of its roundings.
#pragma once

#include "core/numerics/tflite_operators.h"

namespace octavo::numerics {

template <const TfliteRounding& kRounding>
struct TfliteRows {
  static RequantizeFormula Requantize(const ProductQuant& quant) {
    return TfliteRequantize(kRounding, quant);
  }
  static constexpr ProductRow kProducts[] = {{"Conv", &Requantize},
                                             {"ConvTranspose", &Requantize},
                                             {"Gemm", &Requantize},
                                             {"MatMul", &Requantize}};

  template <int kSign>
  static BinaryFormula Add(const BinaryTypes& types) {
    return TfliteAdd(kRounding, kSign, types);
  }
  static BinaryFormula Multiply(const BinaryTypes& types) {
    return TfliteMultiply(kRounding, types);
  }
  static constexpr BinaryRow kBinary[] = {{"Add", &Add<1>},
                                          {"Sub", &Add<-1>},
                                          {"Mul", &Multiply},
                                          {"Max", &TfliteMaximum},
                                          {"Min", &TfliteMinimum}};

  static UnaryFormula LeakyRelu(const ir::Type& x, const ir::Type& y,
                                const ir::AttrMap& attributes) {
    return TfliteLeakyRelu(kRounding, x, y, attributes);
  }
  static UnaryFormula HardSwish(const ir::Type& x, const ir::Type& y, const ir::AttrMap&) {
    return TfliteHardSwish(x, y);
  }
  static UnaryFormula Sigmoid(const ir::Type& x, const ir::Type& y, const ir::AttrMap&) {
    return TfliteSigmoid(kRounding, x, y);
  }
  static UnaryFormula Tanh(const ir::Type& x, const ir::Type& y, const ir::AttrMap&) {
    return TfliteTanh(kRounding, x, y);
  }
  static constexpr UnaryRow kUnary[] = {
      {"LeakyRelu", &LeakyRelu}, {"HardSwish", &HardSwish}, {"Sigmoid", &Sigmoid}, {"Tanh", &Tanh}};

  static RescaleFormula Rescale(ChannelQuant from, ChannelQuant to) {
    return TfliteRescale(kRounding, from, to);
  }
  static RowFormula Softmax(const ir::Type& x, const ir::Type& y, int64_t row) {
    return TfliteSoftmax(kRounding, x, y, row);
  }
};

template <const TfliteRounding& kRounding>
constexpr Mode TfliteMode(std::string_view name) {
  using Rows = TfliteRows<kRounding>;
  return {.name = name,
          .quantize = &TfliteQuantize,
          .rescale = &Rows::Rescale,
          .products = Rows::kProducts,
          .requantize_int16 = &TfliteRequantizeInt16,
          .binary = Rows::kBinary,
          .average_pool = &TfliteAveragePool,
          .unary = Rows::kUnary,
          .softmax = &Rows::Softmax};
}

}  // namespace octavo::numerics
