// SPDX-License-Identifier: Apache-2.0
// What rules share: queries of nodes and constants (core/patterns/match.h), and replacing one value
// by another without losing a name.
#pragma once

#include <string_view>
#include <vector>

#include "core/passes/pass.h"
#include "core/patterns/match.h"

namespace octavo::passes {

using patterns::AddConstant;
using patterns::ConstantOf;
using patterns::FrontAxis;
using patterns::IntsOf;
using patterns::Is;
using patterns::IsOwn;
using patterns::IsScalar;
using patterns::ProducerIs;
using patterns::ScalarOf;

// The ONNX op of that name, which the table must have.
const ir::OpDef* Op(std::string_view name);

// Makes readers of `from` read `to`, which has the same type and always the same elements, and
// lets `from`'s producer go.  A graph output keeps its name: what computes `to` then computes
// `from` instead.  False where neither can be done (`to` is itself an output, an input or one of
// several results, or another result of `from`'s node is read); nothing is changed then.  May break
// the order of nodes: `resort` is set.
bool Replace(ir::Graph& graph, ir::ValueId from, ir::ValueId to, bool& resort);

// Computes `value` by another op on other inputs; the new node keeps its origin, and that of the
// nodes in `absorbed` joins it.
void Recompute(ir::Graph& graph, ir::NodeId id, std::string_view op,
               std::vector<ir::ValueId> inputs, ir::AttrMap attributes,
               const std::vector<const ir::Node*>& absorbed = {});

// Gives `value`, a constant, other elements of the same shape for one reader: in place where that
// is the only reader, else a new constant `NAME.folded`, which is returned.
ir::ValueId ChangeConstant(ir::Graph& graph, ir::ValueId value, ir::Tensor tensor);

}  // namespace octavo::passes
