// SPDX-License-Identifier: Apache-2.0
// Computes one node on float operands: by a blocked kernel with prepacked weights where there is
// one, else by the op's definition.  Both have the same bits.
#pragma once

#include <functional>
#include <span>

#include "core/ir/graph.h"

namespace octavo::float_exec {

// Writes the results of a context whose operands have the shapes that it was prepared for.
// Results need not be zeroed beforehand where `overwrites` is set.
struct Computation {
  std::function<Status(const ir::EvalContext&)> run = {};
  bool overwrites = false;
};

// `constants[i]` is input i in float if it is the same in every run, else null; packing copies it.
// kUnimplemented for an op without a float definition.
Result<Computation> Prepare(const ir::Node& node, std::span<const ir::Shape> shapes,
                            std::span<const ir::Tensor* const> constants);

}  // namespace octavo::float_exec
