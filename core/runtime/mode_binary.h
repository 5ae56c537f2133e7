// What the modes beside `onnx` compute of two operands' codes: one formula per mode and op, in the
// file of its op.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "core/ir/numerics.h"
#include "core/ir/type.h"

namespace octavo::runtime {

// The types of the operands and of the result: per-tensor, one width of 8 or 16 bits.
struct BinaryTypes {
  const ir::Type& a;
  const ir::Type& b;
  const ir::Type& y;

  bool AreWide() const { return ir::SizeOf(y.dtype) > 1; }
  bool AreSymmetric() const {
    return a.quant->zero_point() == 0 && b.quant->zero_point() == 0 && y.quant->zero_point() == 0;
  }
};

// A formula made ready for a node's parameters: codes minus zero points to a code.
using BinaryFormula = std::function<int32_t(int32_t a, int32_t b)>;

struct BinaryRow {
  ir::Numerics mode;
  std::string_view op;
  // An empty function where the mode does not define the op for these parameters.
  BinaryFormula (*make)(ir::Numerics mode, const BinaryTypes& types);
};

std::span<const BinaryRow> SumRows();       // Add, Sub
std::span<const BinaryRow> MultiplyRows();  // Mul
std::span<const BinaryRow> ExtremeRows();   // Max, Min

}  // namespace octavo::runtime
