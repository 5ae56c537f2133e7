// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/export/export_names.h"

#include "core/ir/qdq_notes.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {

using ir::ValueId;

ExportNames::ExportNames(const ir::Graph& graph)
    : graph_(graph), dequantize_(ops::FindOp("Dequantize", "octavo")) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ValueId{static_cast<int32_t>(i)});
    if (!value.erased && !IsUnwritten(value)) taken_.insert(value.name);
  }
  for (const ir::NodeId id : graph.nodes()) taken_nodes_.insert(graph.node(id).name);
}

// Inner consumers of a Dequantize read the DequantizeLinear that its operand has, under the
// operand's name.
bool ExportNames::IsUnwritten(const ir::Value& value) const {
  return value.producer && graph_.node(value.producer).op == dequantize_ && value.output_uses == 0;
}

std::string ExportNames::Unique(const std::string& base) {
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

std::string ExportNames::UniqueNode(const std::string& base) {
  std::string name = base;
  for (int i = 1; !taken_nodes_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

ir::NodeId ExportNames::DequantizeOf(ValueId value) const {
  ir::NodeId found;
  for (const ir::NodeId consumer : graph_.Consumers(value)) {
    if (graph_.node(consumer).op != dequantize_) continue;
    if (graph_.IsOutput(graph_.node(consumer).result())) return consumer;
    if (!found) found = consumer;
  }
  return found;
}

const QuantizedNames& ExportNames::Of(ValueId value) {
  const auto at = names_.find(value);
  if (at != names_.end()) return at->second;
  const std::string& name = graph_.name(value);
  const ir::NodeId dequantize = DequantizeOf(value);
  const ValueId real = dequantize ? graph_.node(dequantize).result() : ValueId{};
  const bool to_output = real && graph_.IsOutput(real);
  // "x.q" is the quantized tensor of a float x that is also in the model, or of what it dequantizes
  // to.
  std::string stem = name;
  const ValueId x = name.ends_with(".q") ? graph_.Find(name.substr(0, name.size() - 2)) : ValueId{};
  const bool marked = x && !graph_.type(x).quantized() &&
                      (!IsUnwritten(graph_.value(x)) || graph_.Producer(x)->input(0) == value);
  if (marked) stem.resize(name.size() - 2);
  const bool keeps_name = marked || graph_.IsInput(value) || graph_.IsOutput(value);
  QuantizedNames names;
  names.integers = keeps_name ? name : Unique(name + ".q");
  names.before = Unique(stem + ".float");
  // A name that an earlier export chose stays.
  const bool chosen =
      keeps_name && real &&
      (graph_.name(real) == stem || ir::IsNumberedName(graph_.name(real), stem + ".dq"));
  if (to_output) {
    names.dequantized = graph_.name(real);
  } else if (chosen) {
    names.dequantized = Unique(graph_.name(real));
  } else {
    names.dequantized = keeps_name ? Unique(stem + ".dq") : name;
  }
  names.scale = Unique(stem + ".scale");
  names.zero_point = Unique(stem + ".zero_point");
  return names_.emplace(value, std::move(names)).first->second;
}

}  // namespace octavo::onnx
