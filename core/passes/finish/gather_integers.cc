// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/gather_integers.h"

#include <algorithm>

#include "core/ops/shared/data_op.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// The parts of a table: integers, and with extent 1 on every axis but the table's a scale and a
// zero point per row.
struct Table {
  ValueId integers = {}, scales = {};
  ValueId zero_points = {};  // invalid: all are 0
};

bool Applies(const Graph& graph, NodeId id) {
  const Node& dequantize = graph.node(id);
  const ValueId table = dequantize.inputs[0], real = dequantize.result();
  if (!graph.IsConstant(table) || graph.CountUses(table) != 1 || graph.IsOutput(real)) return false;
  const ir::Type& type = graph.type(table);
  if (type.quant->per_tensor() || ir::SizeOf(type.dtype) > 2) return false;
  return std::ranges::all_of(graph.value(real).uses, [&](const ir::Use& use) {
    const Node& consumer = graph.node(use.node);
    return Is(consumer, "Gather") && use.input == 0 &&
           FrontAxis(consumer.attributes.Int("axis", 0), type.shape.size()) == *type.quant->axis;
  });
}

Table AddTable(Graph& graph, ValueId quantized) {
  const ir::Value& value = graph.value(quantized);
  const ir::Quant& quant = *value.type.quant;
  const std::string base =
      value.name.ends_with(".q") ? value.name.substr(0, value.name.size() - 2) : value.name;
  ir::Shape rows(value.type.shape.size(), 1);
  rows[*quant.axis] = static_cast<int64_t>(quant.scales.size());
  const ir::Tensor integers = value.constant->tensor;
  const ir::Tensor scales = ir::Tensor::Of<float>(rows, quant.scales);
  const std::vector<float> zeros(quant.zero_points.begin(), quant.zero_points.end());
  const bool centered = std::ranges::all_of(zeros, [](float zero) { return zero == 0; });
  Table table;
  // An imported table has that name as an alias.
  const std::string name = base + ".q";
  const bool own = !graph.Find(name) && graph.Resolve(name) == quantized;
  table.integers = graph.AddConstant(own ? name : graph.UniqueName(name), integers);
  table.scales = AddConstant(graph, base + ".scale", scales);
  if (!centered) {
    table.zero_points =
        AddConstant(graph, base + ".zero_point", ir::Tensor::Of<float>(rows, zeros));
  }
  return table;
}

class Rewriter {
 public:
  Rewriter(Graph& graph, NodeId gather, Context& context)
      : graph_(graph), gather_(gather), context_(context) {}

  void Run(const Table& table, int axis) {
    const Node& node = graph_.node(gather_);
    const ir::AttrMap attributes = node.attributes;
    const ValueId indices = node.inputs[1];
    const ir::Type real = graph_.type(node.result());
    const ir::Type stored{graph_.type(table.integers).dtype, real.shape, {}, {}};
    const ir::Shape chosen = graph_.type(indices).shape;
    ir::Type row{ir::DType::kF32, ir::Shape(static_cast<size_t>(axis), 1), {}, {}};
    row.shape.insert(row.shape.end(), chosen.begin(), chosen.end());
    row.shape.resize(real.shape.size(), 1);
    const ValueId integers =
        Insert("Gather", {table.integers, indices}, ".integers", stored, attributes);
    ValueId steps =
        Insert("Cast", {integers}, ".steps", real, {{"to", ops::NumberOfDType(ir::DType::kF32)}});
    if (table.zero_points) {
      const ValueId zeros =
          Insert("Gather", {table.zero_points, indices}, ".zero_point", row, attributes);
      steps = Insert("Sub", {steps, zeros}, ".centered", real, {});
    }
    const ValueId scales = Insert("Gather", {table.scales, indices}, ".scale", row, attributes);
    graph_.Redefine(gather_, Op("Mul"), {steps, scales}, {});
  }

 private:
  ValueId Insert(std::string_view op, std::vector<ValueId> inputs, std::string_view suffix,
                 const ir::Type& type, ir::AttrMap attributes) {
    const std::string whole = graph_.name(graph_.node(gather_).result());
    const NodeId id = graph_.InsertBefore(
        gather_, {.op = Op(op),
                  .inputs = std::move(inputs),
                  .attributes = std::move(attributes),
                  .results = {{graph_.UniqueName(whole + std::string(suffix)), type}},
                  .origin = graph_.node(gather_).origin});
    if (type.dtype == ir::DType::kF32) {
      context_.KeepFloat(graph_.node(id).name,
                         fmt::format("it is a part of '{}', which dequantizes rows", whole));
    }
    return graph_.node(id).result();
  }

  Graph& graph_;
  NodeId gather_;
  Context& context_;
};

}  // namespace

void GatherIntegers(Graph& graph, NodeId id, Context& context) {
  if (!IsOwn(graph.node(id), "Dequantize") || !Applies(graph, id)) return;
  const ValueId quantized = graph.node(id).inputs[0], real = graph.node(id).result();
  const int axis = *graph.type(quantized).quant->axis;
  const Table table = AddTable(graph, quantized);
  const std::vector<ir::Use> uses = graph.value(real).uses;
  for (const ir::Use& use : uses) {
    context.Applied(kGatherIntegers, graph.node(use.node).name,
                    {graph.name(quantized), graph.name(graph.node(use.node).result())});
    Rewriter(graph, use.node, context).Run(table, axis);
  }
  graph.Erase(id);
  graph.EraseConstant(quantized);
}

}  // namespace octavo::passes
