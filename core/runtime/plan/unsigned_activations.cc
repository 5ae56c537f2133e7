// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/unsigned_activations.h"

#include <algorithm>
#include <numeric>

namespace octavo::runtime {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

// Union-find over the values that must have one type.
class Classes {
 public:
  explicit Classes(size_t count) : parents_(count), is_kept_(count, false) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }
  size_t Root(ValueId id) {
    auto at = static_cast<size_t>(id.index);
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  void Join(ValueId a, ValueId b) {
    const size_t from = Root(a), to = Root(b);
    parents_[from] = to;
    is_kept_[to] = is_kept_[to] || is_kept_[from];
  }
  void Keep(ValueId id) { is_kept_[Root(id)] = true; }
  bool IsKept(ValueId id) { return is_kept_[Root(id)]; }

 private:
  std::vector<size_t> parents_;
  std::vector<bool> is_kept_;
};

bool IsConstantNode(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.inputs, [&](ValueId id) { return !id || graph.IsConstant(id); });
}

bool IsSigned(const ir::Type& type) {
  return type.dtype == ir::DType::kI8 && type.quantized() && type.quant->per_tensor();
}

void Join(const Graph& graph, const Node& node, Classes& classes) {
  if (node.op->QuantOf(graph, node).kind != ir::QuantRule::Kind::kSameScale) return;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (!id || node.op->RoleOf(i) != ir::Role::kData) continue;
    for (const ValueId result : node.results) classes.Join(id, result);
  }
}

// Whether the value is a constant that is only added to activations.  Weights of products do not
// change.
bool IsAddend(const Graph& graph, const ir::Value& value) {
  return value.constant != nullptr && std::ranges::all_of(value.uses, [&](const ir::Use& use) {
           return graph.node(use.node).op->name == "Add";
         });
}

// Whether the node also has operands or results that are plain integers.
bool SeesPlainIntegers(const Graph& graph, const Node& node) {
  const auto is_plain = [&](ValueId id) {
    return id && graph.type(id).dtype == ir::DType::kI8 && !graph.type(id).quantized();
  };
  return std::ranges::any_of(node.inputs, is_plain) || std::ranges::any_of(node.results, is_plain);
}

void Flip(const ir::Tensor& from, ir::Tensor& to) {
  std::ranges::transform(from.values<uint8_t>(), to.mutable_values<uint8_t>().begin(),
                         [](uint8_t code) { return static_cast<uint8_t>(code ^ 0x80); });
}

}  // namespace

std::vector<ValueId> SignedActivationsOf(const Graph& graph) {
  Classes classes(graph.value_bound());
  std::vector<ValueId> found;
  for (const ir::NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const bool is_fixed = IsConstantNode(graph, node) || SeesPlainIntegers(graph, node);
    for (const ValueId value : node.results) {
      if (value && is_fixed) classes.Keep(value);
      if (value && IsSigned(graph.type(value))) found.push_back(value);
    }
    for (const ValueId value : node.inputs) {
      if (value && is_fixed) classes.Keep(value);
    }
    Join(graph, node, classes);
  }
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    const ir::Value& value = graph.value(id);
    if (!value.erased && IsAddend(graph, value) && IsSigned(value.type)) {
      found.push_back(id);
    } else if (value.constant != nullptr) {
      classes.Keep(id);
    }
    const bool is_outside = value.is_input || value.output_uses > 0;
    if (!value.erased && (is_outside || !IsSigned(value.type))) classes.Keep(id);
  }
  std::erase_if(found, [&](ValueId id) { return classes.IsKept(id); });
  return found;
}

void StoreAsUnsigned(std::span<const ValueId> values, Graph& graph) {
  for (const ValueId id : values) {
    ir::Type type = graph.type(id);
    type.dtype = ir::DType::kU8;
    type.quant->zero_points[0] += 128;
    if (const ir::PayloadPtr constant = graph.value(id).constant) {
      ir::Tensor flipped(ir::DType::kU8, type.shape);
      Flip(constant->tensor, flipped);
      graph.SetPayload(id, ir::MakePayload(std::move(flipped)), std::move(type));
    } else {
      graph.SetType(id, std::move(type));
    }
  }
}

ir::Tensor AsSigned(const ir::Tensor& stored) {
  ir::Tensor result(ir::DType::kI8, stored.shape());
  Flip(stored, result);
  return result;
}

}  // namespace octavo::runtime
