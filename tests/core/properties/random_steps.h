// SPDX-License-Identifier: Apache-2.0
// Random ops on values that a graph has: what a step computes, in float; how its operands and
// results are stored is said by who places it.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"
#include "tests/core/properties/dice.h"

namespace octavo::test {

struct Step {
  const ir::OpDef* op = nullptr;
  // Real operands that are constants are f32 here.
  std::vector<ir::ValueId> inputs = {};
  ir::AttrMap attributes = {};
  size_t results = 1;
};

// A graph that is being made, and the values that further steps may read.
struct Sketch {
  Dice& dice;
  ir::Graph& graph;
  std::vector<ir::ValueId> values = {};

  // One of the values, a late one more likely.
  ir::ValueId AnyValue();
  // Another value of that shape, if there is one; possibly the same.
  ir::ValueId ValueOfShape(const ir::Shape& shape);
  // Constants of evenly drawn floats in [-size, size), and of integers.
  ir::ValueId RealConstant(const ir::Shape& shape, double size);
  ir::ValueId Scalar(float value);
  ir::ValueId Ints(const std::vector<int64_t>& values);
  const ir::Shape& ShapeOf(ir::ValueId id) const { return graph.type(id).shape; }
};

// A step of which one operand is `x`; nothing where the op that was drawn does not fit its shape.
std::optional<Step> DrawStep(Sketch& sketch, ir::ValueId x);

}  // namespace octavo::test
