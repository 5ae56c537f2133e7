// SPDX-License-Identifier: Apache-2.0
// Random ops on values of a graph.  A step states what to compute, in float; the caller decides how
// operands and results are stored.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"
#include "tests/core/properties/dice.h"

namespace octavo::test {

struct Step {
  const ir::OpDef* op = nullptr;
  // Constant operands that are real-valued are f32 here.
  std::vector<ir::ValueId> inputs = {};
  ir::AttrMap attributes = {};
  size_t results = 1;
};

// A graph under construction, and the values that further steps may use.
struct Sketch {
  Dice& dice;
  ir::Graph& graph;
  std::vector<ir::ValueId> values = {};

  // One of the values; later ones are more likely.
  ir::ValueId AnyValue();
  // A value of that shape, if there is one; possibly the same one.
  ir::ValueId ValueOfShape(const ir::Shape& shape);
  // Constants: floats uniform in [-size, size), and integers.
  ir::ValueId RealConstant(const ir::Shape& shape, double size);
  ir::ValueId Scalar(float value);
  ir::ValueId Ints(const std::vector<int64_t>& values);
  const ir::Shape& ShapeOf(ir::ValueId id) const { return graph.type(id).shape; }
};

// The shape of a graph input: a matrix or an image.
ir::Shape DrawInputShape(Dice& dice);

// Draws a step with `x` as one operand; nullopt if the drawn op does not fit its shape.
std::optional<Step> DrawStep(Sketch& sketch, ir::ValueId x);

}  // namespace octavo::test
