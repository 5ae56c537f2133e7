// SPDX-License-Identifier: Apache-2.0
// Quantizes every float bias of an integer op at s_x * s_w of the final scales, to the target's
// `bias_bits`.  If a bias would overflow, increases the scale of that weight channel and warns how
// much weight resolution this costs; no bias wraps or saturates silently.
#include <algorithm>
#include <cmath>

#include "core/ir/output_channels.h"
#include "core/ops/op_table.h"
#include "core/passes/finish/bias_room.h"
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

// The weight type with which every bias element fits, and the elements for which it has larger
// scales.
struct Room {
  Type weight = {};
  std::vector<int64_t> raised = {};
};

// What larger scales of weights cost a layer.
struct Cost {
  std::string node = {};
  std::string layer = {};                  // for messages
  std::vector<std::string> constant = {};  // channels whose weights are all 0 now
  std::vector<std::string> coarser = {};   // others
  double most = 1;                         // the largest factor among those
};

Room RoomFor(const Graph& graph, const ir::ProductOperands& operands,
             const target::Target& target) {
  const double step = graph.type(operands.data).quant->scale();
  const ir::Quant& given = *graph.type(operands.weight).quant;
  Room room{.weight = graph.type(operands.weight)};
  const double most_code = MostStoredBias(target.bias_bits);
  const std::span<const float> bias = graph.value(operands.bias).constant->tensor.values<float>();
  for (size_t i = 0; i < bias.size(); ++i) {
    const size_t channel = ir::ChannelOf(given, static_cast<int64_t>(i));
    float& scale = room.weight.quant->scales[channel];
    const double code = std::fabs(bias[i]) / (step * double{scale});
    if (code <= most_code) continue;
    auto raised = static_cast<float>(std::fabs(bias[i]) / most_code / step * 1.000001);
    if (target.pow2_scales) raised = profile::RoundUpToPowerOfTwo(raised);
    room.raised.push_back(static_cast<int64_t>(i));
    scale = raised;
  }
  return room;
}

// The largest magnitude in each channel, which may be the only one.
std::vector<float> LargestOf(const ir::Tensor& weights, const ir::Quant& quant) {
  std::vector<float> largest(quant.scales.size(), 0.0f);
  const std::span<const float> values = weights.values<float>();
  size_t inner = values.size();
  if (quant.axis) {
    inner = 1;
    for (size_t i = static_cast<size_t>(*quant.axis) + 1; i < weights.shape().size(); ++i) {
      inner *= static_cast<size_t>(weights.shape()[i]);
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    float& most = largest[i / inner % largest.size()];
    most = std::max(most, std::fabs(values[i]));
  }
  return largest;
}

Cost CostOf(const Graph& graph, NodeId id, ValueId weight, const Room& room) {
  const Node& node = graph.node(id);
  const ir::Quant& given = *graph.type(weight).quant;
  const ir::Tensor& weights = graph.value(graph.Producer(weight)->inputs[0]).constant->tensor;
  const std::vector<float> largest = LargestOf(weights, given);
  Cost cost{.node = node.name, .layer = fmt::format("{} '{}'", node.op->name, node.name)};
  for (const int64_t element : room.raised) {
    const size_t channel = ir::ChannelOf(given, element);
    const float scale = room.weight.quant->scales[channel];
    if (largest[channel] < scale / 2) {
      cost.constant.push_back(fmt::format("{}", element));
    } else {
      cost.coarser.push_back(fmt::format("{}", element));
      cost.most = std::max(cost.most, double{scale} / double{given.scales[channel]});
    }
  }
  return cost;
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
Status MakeRoom(Graph& graph, NodeId id, ir::ProductOperands& operands, Context& context,
                std::vector<Cost>& costs) {
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
  costs.push_back(CostOf(graph, id, operands.weight, room));
  context.Applied(kIncreaseWeightScale, node.name, {graph.name(operands.weight)});
  graph.SetType(operands.weight, std::move(room.weight));
  return {};
}

Status Specialize(Graph& graph, NodeId id, Context& context, std::vector<Cost>& costs) {
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
  OCTAVO_CHECK(MakeRoom(graph, id, operands, context, costs));
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

std::string Channels(const std::vector<std::string>& channels, std::string_view one,
                     std::string_view several) {
  constexpr size_t kShown = 8;
  const bool all = channels.size() <= kShown;
  const auto end = all ? channels.end() : channels.begin() + kShown;
  return fmt::format("{} {}{} {}", channels.size() == 1 ? "channel" : "channels",
                     fmt::join(channels.begin(), end, ", "),
                     all ? "" : fmt::format(" and {} more", channels.size() - kShown),
                     channels.size() == 1 ? one : several);
}

std::string Describe(const Cost& cost) {
  std::string text;
  if (!cost.constant.empty()) {
    text =
        Channels(cost.constant, "is constant: its weights are", "are constant: their weights are") +
        " below the accumulator's resolution";
  }
  if (!cost.coarser.empty()) {
    text += fmt::format("{}{} up to {:.3g} times coarser steps", text.empty() ? "" : "; ",
                        Channels(cost.coarser, "has", "have"), cost.most);
  }
  return fmt::format("{}: {}", cost.layer, text);
}

// One warning for the model: the cause is the same in all layers.
void Warn(const std::vector<Cost>& costs, Context& context) {
  constexpr size_t kShown = 3;
  if (costs.empty()) return;
  std::vector<std::string> layers;
  for (size_t i = 0; i < std::min(costs.size(), kShown); ++i) layers.push_back(Describe(costs[i]));
  if (costs.size() > kShown) {
    layers.push_back(fmt::format("{} more layers", costs.size() - kShown));
  }
  context.Warn("bias_overflow",
               fmt::format("biases would overflow {} bits, so the scales of their weights were "
                           "raised: {}",
                           context.settings().target.bias_bits, fmt::join(layers, "; ")),
               costs.front().node);
}

Status Run(Graph& graph, Context& context) {
  std::vector<Cost> costs;
  for (const NodeId id : graph.nodes()) OCTAVO_CHECK(Specialize(graph, id, context, costs));
  Warn(costs, context);
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
