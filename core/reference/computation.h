// How one node is computed on expressed operands: by a blocked kernel whose weights are packed
// once where there is one, else by the op's own definition.  Both give the same bits.
#pragma once

#include <functional>
#include <span>

#include "core/ir/graph.h"

namespace octavo::reference {

// Writes the results of a context whose operands have the shapes that it was prepared for.
// Results need not be zeroed beforehand where `overwrites` is set.
struct Computation {
  std::function<Status(const ir::EvalContext&)> run = {};
  bool overwrites = false;
};

// `constants[i]` is input i in float where it will be the same at every run, else null; what is
// packed is copied.  kUnimplemented where the op has no float meaning.
Result<Computation> Prepare(const ir::Node& node, std::span<const ir::Shape> shapes,
                            std::span<const ir::Tensor* const> constants);

}  // namespace octavo::reference
