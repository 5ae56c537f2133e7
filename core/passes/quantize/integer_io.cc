// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/integer_io.h"

#include "core/ops/op_table.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

std::string InWords(const Type& type) {
  return fmt::format("{} with scale {} and zero point {}", Name(type.dtype), type.quant->scale(),
                     type.quant->zero_point());
}

void ReportKept(Context& context, const std::string& name, const std::string& reason) {
  context.Keep(name, reason);
  context.Warn(kFloatInterface, fmt::format("'{}' stays float: {}", name, reason), name);
}

// "" if all consumers of the float input quantize it to the same type; else the reason.
std::string WhyFloatInput(const Graph& graph, ValueId input) {
  const ir::Value& value = graph.value(input);
  if (graph.IsOutput(input)) return "it is also a graph output";
  if (value.uses.empty()) return "it has no consumer";
  const Type& first = graph.type(graph.node(value.uses.front().node).result());
  for (const ir::Use& use : value.uses) {
    const Node& consumer = graph.node(use.node);
    if (!IsOwn(consumer, "Quantize")) {
      return fmt::format("{} '{}' consumes it in float", consumer.op->name, consumer.name);
    }
    const Type& type = graph.type(consumer.result());
    if (!type.quant->per_tensor()) return "its quantization is per-channel";
    if (!type.SameQuantization(first)) {
      return "its consumers quantize it with different parameters";
    }
    if (graph.IsOutput(consumer.result())) {
      return fmt::format("its quantized form is graph output '{}'", graph.name(consumer.result()));
    }
  }
  return {};
}

void IntegerInput(Graph& graph, ValueId input, Context& context) {
  if (graph.type(input).dtype != ir::DType::kF32) return;
  if (const std::string why = WhyFloatInput(graph, input); !why.empty()) {
    ReportKept(context, graph.name(input), why);
    return;
  }
  const std::vector<ir::Use> uses = graph.value(input).uses;
  Type type = graph.type(graph.node(uses.front().node).result());
  type.range.reset();
  graph.SetType(input, type);
  for (const ir::Use& use : uses) {
    const ValueId quantized = graph.node(use.node).result();
    context.Applied(kIntegerInput, graph.node(use.node).name,
                    {graph.name(quantized), graph.name(input)});
    graph.Forward(quantized, input);
    graph.Erase(use.node);
  }
  context.Warn("integer_input",
               fmt::format("input '{}' is now {}", graph.name(input), InWords(type)),
               graph.name(input));
}

std::string WhyFloatOutput(const Graph& graph, const Node* producer) {
  if (producer == nullptr || !IsOwn(*producer, "Dequantize")) return "it is computed in float";
  const ValueId quantized = producer->inputs[0];
  if (!graph.type(quantized).quant->per_tensor()) return "its quantization is per-channel";
  if (graph.Producer(quantized) == nullptr) {
    return fmt::format("no node computes its quantized form '{}'", graph.name(quantized));
  }
  if (graph.IsOutput(quantized)) {
    return fmt::format("its quantized form is already graph output '{}'", graph.name(quantized));
  }
  return {};
}

void IntegerOutput(Graph& graph, ValueId output, Context& context) {
  if (graph.type(output).dtype != ir::DType::kF32 || graph.IsInput(output)) return;
  if (const std::string why = WhyFloatOutput(graph, graph.Producer(output)); !why.empty()) {
    ReportKept(context, graph.name(output), why);
    return;
  }
  const NodeId dequantize = graph.value(output).producer;
  const ValueId quantized = graph.node(dequantize).inputs[0];
  const std::string name = graph.name(output);
  context.Applied(kIntegerOutput, graph.node(dequantize).name, {graph.name(quantized), name});
  const Type real = graph.type(output), type = graph.type(quantized);
  // Float consumers of the output keep a float operand, under a new name.
  if (const std::vector<ir::Use> floats = graph.value(output).uses; !floats.empty()) {
    const NodeId inner =
        graph.InsertAfter(dequantize, {.op = graph.node(dequantize).op,
                                       .inputs = {quantized},
                                       .results = {{graph.UniqueName(name + ".dq"), real}}});
    for (const ir::Use& use : floats) {
      graph.SetInput(use.node, use.input, graph.node(inner).result());
    }
  }
  const std::vector<ir::Use> uses = graph.value(quantized).uses;
  for (const ir::Use& use : uses) {
    if (use.node != dequantize) graph.SetInput(use.node, use.input, output);
  }
  graph.SetType(output, type);
  graph.Absorb(quantized, output);
  context.Warn("integer_output", fmt::format("output '{}' is now {}", name, InWords(type)), name);
}

}  // namespace

void MakeInterfaceInteger(Graph& graph, Context& context) {
  const std::vector<ValueId> inputs = graph.inputs(), outputs = graph.outputs();
  for (const ValueId input : inputs) IntegerInput(graph, input, context);
  for (const ValueId output : outputs) IntegerOutput(graph, output, context);
}

}  // namespace octavo::passes
