// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/sums_in_double.h"

#include "core/onnx/versions/version_table.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

bool CastsTo(const onnx_wire::Node& node, ir::DType dtype) {
  if (node.op_type() != "Cast" || !node.domain().empty() || node.input_size() != 1) return false;
  if (node.output_size() != 1) return false;
  for (const onnx_wire::Attribute& attribute : node.attribute()) {
    if (attribute.name() == "to") return attribute.i() == WireOf(dtype);
  }
  return false;
}

// NAME of a tensor NAME.sum; empty for other names.
std::string SumOf(const std::string& tensor) {
  if (!tensor.ends_with(kSumSuffix)) return {};
  return tensor.substr(0, tensor.size() - kSumSuffix.size());
}

}  // namespace

SumsInDouble::SumsInDouble(const onnx_wire::Graph& graph, bool own) {
  if (!own) return;
  std::unordered_map<std::string, int> casts;  // the Cast that writes NAME.wide or NAME, by that
  std::unordered_map<std::string, int> reads;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx_wire::Node& node = graph.node(i);
    for (const std::string& input : node.input()) ++reads[input];
    const bool wide = CastsTo(node, ir::DType::kF64) && node.output(0).ends_with(kWideSuffix);
    const bool narrow = CastsTo(node, ir::DType::kF32) && SumOf(node.input(0)) == node.output(0);
    if (wide || narrow) casts.emplace(node.output(0), i);
  }
  for (const onnx_wire::ValueInfo& output : graph.output()) ++reads[output.name()];
  for (int i = 0; i < graph.node_size() && !casts.empty(); ++i) {
    const onnx_wire::Node& node = graph.node(i);
    if (node.input_size() == 0 || node.output_size() != 1) continue;
    const std::string name = SumOf(node.output(0));
    if (name.empty() || node.input(0) != name + std::string(kWideSuffix)) continue;
    const auto operand = casts.find(node.input(0)), result = casts.find(name);
    if (operand == casts.end() || result == casts.end()) continue;
    if (reads[node.input(0)] != 1 || reads[node.output(0)] != 1) continue;
    parts_[operand->second] = Part::kOperand;
    parts_[i] = Part::kSum;
    parts_[result->second] = Part::kResult;
    results_[i] = name;
  }
}

}  // namespace octavo::onnx
