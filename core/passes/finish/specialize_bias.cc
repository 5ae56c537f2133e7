// SPDX-License-Identifier: Apache-2.0
// Quantizes every float bias of an integer op at s_x * s_w of the final scales, to the target's
// `bias_bits`.  If a bias would overflow, increases the scale of that weight channel and warns how
// much weight resolution this costs; no bias wraps or saturates silently.
#include <algorithm>
#include <cmath>

#include "core/ir/output_channels.h"
#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"
#include "core/profile/choose_params.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kQuantizeBias = {
    .id = "specialize-bias/quantize-bias",
    .pattern = "Op(x : s_x, w : s_w, b)",
    .replacement = "Op(x, w, Quantize(b) : i32, s_x * s_w)",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: x and w are quantized, b is a float constant and is "
        "rounded to the target's bias_bits",
};
constexpr Rule kIncreaseWeightScale = {
    .id = "specialize-bias/increase-weight-scale",
    .pattern = "Quantize(w) : s_w",
    .replacement = "Quantize(w) : s_w'",
    .effect = Effect::kNewParameters,
    .condition =
        "a bias would overflow the target's bias_bits at s_x * s_w; the weights are still pending",
};
constexpr Rule kRules[] = {kQuantizeBias, kIncreaseWeightScale};

// With 32 bits, leaves one bit free for the sum of products that is added to the bias.
double MaxStored(int bits) { return bits == 32 ? 0x1p30 : std::ldexp(1.0, bits - 1) - 1; }

// The weight type with which every bias element fits, and the channels whose scales it increases.
struct Room {
  Type weight = {};
  std::vector<std::string> raised = {};
  double most = 1;  // the largest factor of increase
};

Room RoomFor(const Graph& graph, const ir::ProductOperands& operands,
             const target::Target& target) {
  const double step = graph.type(operands.data).quant->scale();
  const ir::Quant& given = *graph.type(operands.weight).quant;
  Room room{.weight = graph.type(operands.weight)};
  const double most_code = MaxStored(target.bias_bits);
  const std::span<const float> bias = graph.value(operands.bias).constant->tensor.values<float>();
  for (size_t i = 0; i < bias.size(); ++i) {
    const size_t channel = ir::ChannelOf(given, static_cast<int64_t>(i));
    float& scale = room.weight.quant->scales[channel];
    const double code = std::fabs(bias[i]) / (step * double{scale});
    if (code <= most_code) continue;
    auto raised = static_cast<float>(std::fabs(bias[i]) / most_code / step * 1.000001);
    if (target.pow2_scales) raised = profile::RoundUpToPowerOfTwo(raised);
    room.most = std::max(room.most, double{raised} / double{given.scales[channel]});
    room.raised.push_back(fmt::format("{}", i));
    scale = raised;
  }
  return room;
}

// The pending weight of this node, copied if it has other consumers; nullopt if it is already
// rounded.
std::optional<ValueId> OwnPending(Graph& graph, NodeId id, ValueId weight) {
  const Node* quantize = graph.Producer(weight);
  if (!IsOwn(quantize, "Quantize") || !graph.IsConstant(quantize->inputs[0])) return std::nullopt;
  if (graph.CountUses(weight) == 1) return weight;
  const NodeId own = graph.InsertBefore(
      id, {.op = quantize->op,
           .inputs = quantize->inputs,
           .results = {{graph.UniqueName(graph.name(weight)), graph.type(weight)}}});
  const ValueId copy = graph.node(own).result();
  for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
    if (graph.node(id).inputs[i] == weight) graph.SetInput(id, i, copy);
  }
  return copy;
}

// Increases weight scales with which a bias element does not fit.
Status MakeRoom(Graph& graph, NodeId id, ir::ProductOperands& operands, Context& context) {
  const target::Target& target = context.settings().target;
  Room room = RoomFor(graph, operands, target);
  if (room.raised.empty()) return {};
  const std::optional<ValueId> own = OwnPending(graph, id, operands.weight);
  const Node& node = graph.node(id);
  if (!own) {
    return Fail(Code::kUnimplemented,
                "{} '{}': bias '{}' overflows {} bits at channel {}, and the weight's scale cannot "
                "be increased because it is already rounded",
                node.op->name, node.name, graph.name(operands.bias), target.bias_bits,
                room.raised.front())
        .Node(node.name);
  }
  operands.weight = *own;
  context.Warn("bias_overflow",
               fmt::format("bias '{}' would overflow {} bits; the scale of weight '{}' was "
                           "increased by a factor of at most {:.4g} for channels {}",
                           graph.name(operands.bias), target.bias_bits, graph.name(operands.weight),
                           room.most, fmt::join(room.raised, ", ")),
               node.name);
  context.Applied(kIncreaseWeightScale, node.name, {graph.name(operands.weight)});
  graph.SetType(operands.weight, std::move(room.weight));
  return {};
}

Status Specialize(Graph& graph, NodeId id, Context& context) {
  ir::ProductOperands operands = ir::ProductOperandsOf(graph.node(id));
  if (!operands.bias || !operands.weight || !operands.data) return {};
  if (graph.type(operands.bias).dtype != ir::DType::kF32 || !graph.IsConstant(operands.bias)) {
    return {};
  }
  const Type& data = graph.type(operands.data);
  if (!data.quantized() || !data.quant->per_tensor() ||
      !ir::HasOutputChannels(graph, graph.node(id), operands) ||
      !ir::HasPlainBias(graph, graph.node(id))) {
    return {};
  }
  OCTAVO_CHECK(MakeRoom(graph, id, operands, context));
  const ValueId bias = operands.bias;
  const ir::Value constant = graph.value(bias);
  const Type type{ir::DType::kI32,
                  constant.type.shape,
                  ir::BiasQuant(*graph.type(operands.data).quant,
                                *graph.type(operands.weight).quant, constant.type.shape),
                  {}};
  const ir::OpDef* quantize = ops::FindOp("Quantize", "octavo");
  context.Applied(kQuantizeBias, graph.node(id).name, {constant.name});
  if (graph.CountUses(bias) == 1) {
    const ValueId payload = graph.AddConstant(graph.UniqueName(constant.name + ".float"),
                                              constant.constant, constant.type);
    graph.DefineAsNode(bias, {.op = quantize, .inputs = {payload}});
    graph.SetType(bias, type);
    return {};
  }
  // If several ops share a bias, each gets its own quantized form.
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
    .phase = Phase::kFinish,
    .postcondition = "the bias of every integer op is i32 at s_x * s_w of the final scales",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
