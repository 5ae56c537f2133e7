// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/qdq_form.h"

#include <algorithm>

#include "core/ops/op_table.h"
#include "tests/core/properties/dice.h"

namespace octavo::test {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

class Writer {
 public:
  Writer(const Graph& from, uint64_t seed)
      : from_(from), dice_(seed ^ 0x9d9), stored_(from.value_bound()), real_(from.value_bound()) {}

  Graph Run() {
    to_.opsets = from_.opsets;
    for (const ValueId id : from_.inputs()) {
      stored_[id.index] = to_.AddInput(from_.name(id), from_.type(id));
    }
    for (const NodeId id : from_.nodes()) Write(from_.node(id));
    for (const ValueId id : from_.outputs()) to_.AddOutput(Stored(id));
    return std::move(to_);
  }

 private:
  bool IsQuantized(ValueId id) const { return id && from_.type(id).quantized(); }

  // The value as `from` has it.
  ValueId Stored(ValueId id) {
    if (!id) return id;
    ValueId& stored = stored_[id.index];
    if (stored) return stored;
    const ir::Value& value = from_.value(id);
    if (value.constant) return stored = to_.AddConstant(value.name, value.constant, value.type);
    return stored = Add("Quantize", real_[id.index], value.name, value.type);
  }

  // In float.
  ValueId Real(ValueId id) {
    if (!IsQuantized(id)) return Stored(id);
    ValueId& real = real_[id.index];
    if (real) return real;
    return real =
               Add("Dequantize", Stored(id), from_.name(id) + ".real", from_.type(id).Expressed());
  }

  ValueId Add(std::string_view op, ValueId x, const std::string& name, const Type& type) {
    const NodeId id = to_.AddNode({.op = ops::FindOp(op, "octavo"),
                                   .inputs = {x},
                                   .results = {{to_.UniqueName(name), type}}});
    return to_.node(id).result();
  }

  // Whether the floats of the result are those of a stored value, so that it need not be stored.
  bool StaysReal(const Node& node) {
    return node.op->moves_data != ir::Movement::kNone && dice_.Chance(50) &&
           node.op->QuantOf(from_, node).kind == ir::QuantRule::Kind::kSameScale;
  }

  void Write(const Node& node) {
    Graph::Definition definition{.name = node.name, .op = node.op, .attributes = node.attributes};
    if (node.op->domain == "octavo") {
      const ValueId x = node.inputs[0];
      const bool rescale = node.op->name == "Rescale";
      definition.op = ops::FindOp(rescale ? "Quantize" : node.op->name, "octavo");
      definition.inputs = {rescale ? Real(x) : Stored(x)};
    } else {
      for (const ValueId input : node.inputs) definition.inputs.push_back(Real(input));
    }
    const bool in_float = node.op->domain.empty();
    for (const ValueId result : node.results) {
      const bool real = in_float && IsQuantized(result);
      definition.results.emplace_back(to_.UniqueName(from_.name(result) + (real ? ".float" : "")),
                                      real ? from_.type(result).Expressed() : from_.type(result));
    }
    const bool stays_real = in_float && StaysReal(node);
    const NodeId id = to_.AddNode(std::move(definition));
    for (size_t i = 0; i < node.results.size(); ++i) {
      const ValueId from = node.results[i], to = to_.node(id).results[i];
      const bool real = in_float && IsQuantized(from);
      (real ? real_ : stored_)[from.index] = to;
      if (!real || stays_real) continue;
      Stored(from);
      real_[from.index] = {};  // its readers dequantize it
    }
  }

  const Graph& from_;
  Dice dice_;
  Graph to_;
  std::vector<ValueId> stored_, real_;  // by value of `from_`
};

}  // namespace

Graph QdqForm(const Graph& graph, uint64_t seed) { return Writer(graph, seed).Run(); }

}  // namespace octavo::test
