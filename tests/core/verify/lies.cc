// SPDX-License-Identifier: Apache-2.0
#include "tests/core/verify/lies.h"

#include <cmath>
#include <functional>

#include "core/ir/verify.h"
#include "core/ops/op_table.h"

namespace octavo::test {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

// Tries the change at each index, from a random one on, until it gives another valid graph.
bool TryEach(Graph& graph, Dice& dice, size_t count,
             const std::function<bool(Graph&, int32_t)>& change) {
  if (count == 0) return false;
  const auto first = static_cast<size_t>(dice.Below(static_cast<int64_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    Graph changed = graph;
    if (!change(changed, static_cast<int32_t>((first + i) % count))) continue;
    if (!ir::Verify(changed)) continue;
    graph = std::move(changed);
    return true;
  }
  return false;
}

// Whether an output depends on the value.
bool IsLive(const Graph& graph, ValueId id) {
  std::vector<ValueId> open = {id};
  std::vector<bool> seen(graph.value_bound(), false);
  while (!open.empty()) {
    const ValueId at = open.back();
    open.pop_back();
    if (graph.IsOutput(at)) return true;
    if (seen[at.index]) continue;
    seen[at.index] = true;
    for (const ir::Use& use : graph.value(at).uses) {
      for (const ValueId result : graph.node(use.node).results) open.push_back(result);
    }
  }
  return false;
}

bool ChangeScale(Graph& graph, Dice& dice) {
  return TryEach(graph, dice, graph.value_bound(), [](Graph& changed, int32_t i) {
    const ValueId id{i};
    const ir::Value& value = changed.value(id);
    if (value.erased || !value.producer || !IsLive(changed, id)) return false;
    ir::Type type = value.type;
    if (!type.quant || !type.quant->per_tensor() || ir::SizeOf(type.dtype) > 2) return false;
    type.quant->scales[0] = std::nextafter(type.quant->scales[0], INFINITY);
    changed.SetType(id, type);
    return true;
  });
}

bool SwapOperands(Graph& graph, Dice& dice) {
  return TryEach(graph, dice, graph.node_bound(), [](Graph& changed, int32_t i) {
    const NodeId id{i};
    const ir::Node& node = changed.node(id);
    if (node.erased || node.inputs.size() < 2 || node.op->commutative ||
        node.op->depends_on_order || node.op->moves_data == ir::Movement::kSelect ||
        !IsLive(changed, node.results[0])) {
      return false;
    }
    const ValueId a = node.inputs[0], b = node.inputs[1];
    if (!a || !b || a == b || changed.type(a).shape != changed.type(b).shape ||
        !changed.type(a).SameQuantization(changed.type(b))) {
      return false;
    }
    changed.SetInput(id, 0, b);
    changed.SetInput(id, 1, a);
    return true;
  });
}

bool DropClamp(Graph& graph, Dice& dice) {
  return TryEach(graph, dice, graph.node_bound(), [](Graph& changed, int32_t i) {
    const NodeId id{i};
    const ir::Node& node = changed.node(id);
    if (node.erased || !node.op->clamps || !IsLive(changed, node.results[0]) ||
        !changed.type(node.inputs[0]).SameQuantization(changed.type(node.results[0]))) {
      return false;
    }
    const ir::Type& type = changed.type(node.inputs[0]);
    // A Relu of a type without negative values is none.
    if (type.quant && type.quant->zero_point() == ir::IntegerRangeOf(type.dtype).min) return false;
    changed.Redefine(id, ops::FindOp("Identity"), {node.inputs[0]}, {});
    return true;
  });
}

bool TakeWrongAxis(Graph& graph, Dice& dice) {
  return TryEach(graph, dice, graph.node_bound(), [](Graph& changed, int32_t i) {
    const NodeId id{i};
    const ir::Node& node = changed.node(id);
    if (node.erased || !IsLive(changed, node.results[0])) return false;
    ir::AttrMap attributes = node.attributes;
    const auto rank = static_cast<int64_t>(changed.type(node.inputs[0]).shape.size());
    std::vector<int64_t> perm = attributes.Ints("perm");
    if (attributes.Has("axis") && rank > 1) {
      attributes.Set("axis", (attributes.Int("axis", 0) + rank + 1) % rank);
    } else if (perm.size() > 1) {
      std::swap(perm[0], perm[1]);
      attributes.Set("perm", perm);
    } else {
      return false;
    }
    changed.Redefine(id, node.op, node.inputs, attributes);
    return true;
  });
}

bool AlterConstant(Graph& graph, Dice& dice) {
  return TryEach(graph, dice, graph.value_bound(), [&](Graph& changed, int32_t i) {
    const ValueId id{i};
    const ir::Value& value = changed.value(id);
    if (value.erased || !value.constant || value.type.elements() == 0 || !IsLive(changed, id)) {
      return false;
    }
    ir::Tensor tensor = value.constant->tensor.Clone();
    const int64_t at = dice.Below(tensor.size());
    if (tensor.dtype() == ir::DType::kF32) {
      float& x = tensor.mutable_values<float>()[at];
      if (!std::isfinite(x)) return false;
      x += 0.05f * (std::fabs(x) + 1.0f);
    } else {
      // The lowest bit of the element, which stays in its range.
      tensor.mutable_raw()[at * ir::SizeOf(tensor.dtype())] ^= std::byte{1};
    }
    changed.SetPayload(id, ir::MakePayload(std::move(tensor)), value.type);
    return true;
  });
}

}  // namespace

const std::array<Lie, 5> kLies = {{{"scale off by one ulp", &ChangeScale},
                                   {"swapped operands", &SwapOperands},
                                   {"dropped clamp", &DropClamp},
                                   {"wrong axis", &TakeWrongAxis},
                                   {"altered constant", &AlterConstant}}};

}  // namespace octavo::test
