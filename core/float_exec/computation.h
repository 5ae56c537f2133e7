// SPDX-License-Identifier: Apache-2.0
// Computes one node on float operands, with a blocked kernel and prepacked weights if the op has
// one, else with the op's definition.  Both give the same bits.
#pragma once

#include <functional>
#include <span>

#include "core/ir/graph.h"

namespace octavo::float_exec {

// Writes the results of a context; its operands must have the shapes that Prepare received.  If
// `overwrites` is set, results need not be zeroed beforehand.
struct Computation {
  std::function<Status(const ir::EvalContext&)> run = {};
  bool overwrites = false;
};

// `constants[i]` is input i in float if it is the same in every run, else null.  Packing copies it.
// kUnimplemented for an op without a float definition.
Result<Computation> Prepare(const ir::Node& node, std::span<const ir::Shape> shapes,
                            std::span<const ir::Tensor* const> constants);

}  // namespace octavo::float_exec
