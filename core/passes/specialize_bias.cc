// Gives every float bias of an integer op its 32-bit form at the scales as they now stand.
//
//   specialized   Op(x : s_x, w : s_w, b float)  ->  Op(x, w, Quantize(b) : i32, s_x * s_w)
//                 new parameters: the job itself, as in quantize
// Where a bias would overflow 32 bits, the scale of that weight channel is raised instead, and
// said; nothing is wrapped or clipped in silence.
#include <algorithm>
#include <cmath>

#include "core/ops/op_table.h"
#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kSpecialized = {"specialized",
                               "Op(x : s_x, w : s_w, b) -> Op(x, w, Quantize(b) : i32, s_x * s_w)",
                               Effect::kNewParameters,
                               "the job itself, so no limit holds it back: x and w are codes, b is "
                               "a float constant, which is rounded to 32 bits"};
constexpr Rule kRaised = {"weight-scale-raised", "Quantize(w) : s_w -> Quantize(w) : s_w'",
                          Effect::kNewParameters,
                          "a bias would overflow 32 bits at s_x * s_w; weights still pending"};
constexpr Rule kRules[] = {kSpecialized, kRaised};

// A little below 2^31, so that the sum of products still has room beside the bias.
constexpr double kMostBiasCode = 1 << 30;

struct Operands {
  ValueId data, weight, bias;
  size_t bias_input = 0;
};

Operands OperandsOf(const Node& node) {
  Operands operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    switch (node.op->RoleOf(i)) {
      case ir::Role::kData:
        if (!operands.data) operands.data = node.inputs[i];
        break;
      case ir::Role::kWeight:
        operands.weight = node.inputs[i];
        break;
      case ir::Role::kBias:
        operands.bias = node.inputs[i];
        operands.bias_input = i;
        break;
      case ir::Role::kParameter:
        break;
    }
  }
  return operands;
}

// Raises weight scales under which a bias element does not fit.
Status MakeRoom(Graph& graph, const Node& node, const Operands& operands, Context& context) {
  const Type& x = graph.type(operands.data);
  Type w = graph.type(operands.weight);
  const std::span<const float> bias = graph.value(operands.bias).constant->tensor.values<float>();
  std::vector<std::string> raised;
  for (size_t i = 0; i < bias.size(); ++i) {
    const size_t c = w.quant->per_tensor() ? 0 : i;
    const double scale = double{x.quant->scale()} * double{w.quant->scales[c]};
    if (std::fabs(bias[i]) / scale <= kMostBiasCode) continue;
    w.quant->scales[c] = static_cast<float>(std::fabs(bias[i]) / kMostBiasCode /
                                            double{x.quant->scale()} * 1.000001);
    raised.push_back(fmt::format("{}", i));
  }
  if (raised.empty()) return {};
  const Node* quantize = graph.Producer(operands.weight);
  if (quantize == nullptr || graph.CountUses(operands.weight) != 1) {
    return Fail(Code::kUnimplemented,
                "{} '{}': bias '{}' overflows 32 bits at channel {}, and the weight's scale cannot "
                "be raised since its codes are given",
                node.op->name, node.name, graph.name(operands.bias), raised.front())
        .Node(node.name);
  }
  context.Warn(
      "bias_overflow",
      fmt::format("bias '{}' would overflow 32 bits; the scale of weight '{}' was raised "
                  "for channels {}",
                  graph.name(operands.bias), graph.name(operands.weight), fmt::join(raised, ", ")),
      node.name);
  context.Applied(kRaised, node.name, {graph.name(operands.weight)});
  graph.SetType(operands.weight, std::move(w));
  return {};
}

Type BiasType(const Type& x, const Type& w, const ir::Shape& shape) {
  const int64_t channels = shape[0];
  ir::Quant quant{.scales = std::vector<float>(channels),
                  .zero_points = std::vector<int32_t>(channels, 0),
                  .axis = 0};
  for (int64_t c = 0; c < channels; ++c) {
    quant.scales[c] = x.quant->scale() * w.quant->scale(c);
  }
  if (w.quant->per_tensor()) quant = ir::Quant::PerTensor(x.quant->scale() * w.quant->scale(), 0);
  return {ir::DType::kI32, shape, std::move(quant), {}};
}

Status Specialize(Graph& graph, NodeId id, Context& context) {
  const Operands operands = OperandsOf(graph.node(id));
  if (!operands.bias || !operands.weight || !operands.data) return {};
  if (graph.type(operands.bias).dtype != ir::DType::kF32 || !graph.IsConstant(operands.bias)) {
    return {};
  }
  if (!graph.type(operands.data).quantized() || !graph.type(operands.weight).quantized()) return {};

  OCTAVO_CHECK(MakeRoom(graph, graph.node(id), operands, context));
  const ValueId bias = operands.bias;
  const ir::Value constant = graph.value(bias);
  const Type type =
      BiasType(graph.type(operands.data), graph.type(operands.weight), constant.type.shape);
  const ir::OpDef* quantize = ops::FindOp("Quantize", "octavo");
  context.Applied(kSpecialized, graph.node(id).name, {constant.name});
  if (constant.uses.size() == 1) {
    const ValueId payload = graph.AddConstant(graph.UniqueName(constant.name + ".float"),
                                              constant.constant, constant.type);
    graph.DefineAsNode(bias, {.op = quantize, .inputs = {payload}});
    graph.SetType(bias, type);
    return {};
  }
  // A bias that several ops share has a form for each.
  const NodeId own = graph.InsertBefore(
      id, {.op = quantize, .inputs = {bias}, .results = {{graph.UniqueName(constant.name), type}}});
  graph.SetInput(id, operands.bias_input, graph.node(own).result());
  return {};
}

Status Run(Graph& graph, Context& context) {
  for (const NodeId id : graph.nodes()) OCTAVO_CHECK(Specialize(graph, id, context));
  return {};
}

}  // namespace

const Pass kSpecializeBiasPass = {
    .name = "specialize-bias",
    .promise = "the bias of every integer op is i32 at s_x * s_w of the final scales",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
