// SPDX-License-Identifier: Apache-2.0
// Helpers that rules share: queries of nodes and constants (core/patterns/match.h), and replacement
// of one value by another without losing a name.
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

// The ONNX op of that name, which must be in the table.
const ir::OpDef* Op(std::string_view name);

// Replaces `from` by `to`, which must have the same type and always the same elements, and erases
// `from`'s producer.  If `from` is a graph output, it keeps its name: the producer of `to` then
// computes `from` instead.  Returns false and changes nothing if neither is possible (`to` is
// itself an output, an input or one of several results, or another result of `from`'s node has
// consumers).  If the change may break the order of nodes, it sets `resort`.
bool Replace(ir::Graph& graph, ir::ValueId from, ir::ValueId to, bool& resort);

// Redefines node `id` as another op on other inputs; the node keeps its origin and adds the origins
// of the nodes in `absorbed`.
void Recompute(ir::Graph& graph, ir::NodeId id, std::string_view op,
               std::vector<ir::ValueId> inputs, ir::AttrMap attributes,
               const std::vector<const ir::Node*>& absorbed = {});

// Changes the elements of the constant `value` for one consumer; the shape stays the same.  Works
// in place if the constant has no other consumer, else adds and returns a new constant
// `NAME.folded`.
ir::ValueId ChangeConstant(ir::Graph& graph, ir::ValueId value, ir::Tensor tensor);

}  // namespace octavo::passes
