#include "core/passes/bias_rescale.h"

#include <cmath>
#include <limits>

#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr double kMostCode = std::numeric_limits<int32_t>::max();

// The weight and the bias of a node, and which input the bias is.
struct Terms {
  ValueId weight, bias;
  size_t bias_input = 0;
};

Terms TermsOf(const Node& node) {
  Terms terms;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.op->RoleOf(i) == ir::Role::kWeight) terms.weight = node.inputs[i];
    if (node.op->RoleOf(i) != ir::Role::kBias) continue;
    terms.bias = node.inputs[i];
    terms.bias_input = i;
  }
  return terms;
}

// The bias's type at s_x * s_w.
ir::Type TypeAt(const ir::Type& bias, const ir::Type& weight, const ir::Type& data) {
  ir::Type type = bias;
  for (size_t c = 0; c < type.quant->scales.size(); ++c) {
    type.quant->scales[c] = data.quant->scale() * weight.quant->scale(static_cast<int64_t>(c));
  }
  return type;
}

// Codes are all that is left of the reals: they can be said at a finer scale, not at a coarser.
std::string ReexpressCodes(Graph& graph, NodeId reader, const Terms& terms, ir::Type type) {
  const ir::Quant old = *graph.type(terms.bias).quant;
  for (size_t c = 0; c < old.scales.size(); ++c) {
    if (type.quant->scales[c] > old.scales[c]) {
      return "its reader's integer bias would become coarser";
    }
  }
  const auto old_codes = graph.value(terms.bias).constant->tensor.values<int32_t>();
  std::vector<int32_t> codes(old_codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto c = static_cast<int64_t>(i);
    const double code = std::nearbyint(static_cast<double>(old_codes[i]) *
                                       (double{old.scale(c)} / double{type.quant->scale(c)}));
    if (std::fabs(code) > kMostCode) {
      return "its reader's integer bias would not fit 32 bits at the new scale";
    }
    codes[i] = static_cast<int32_t>(code);
  }
  auto payload = ir::MakePayload(ir::Tensor::Of<int32_t>(type.shape, codes));
  if (graph.CountUses(terms.bias) == 1) {
    graph.SetPayload(terms.bias, std::move(payload), std::move(type));
    return {};
  }
  const ValueId copy = graph.AddConstant(graph.UniqueName(graph.name(terms.bias)),
                                         std::move(payload), std::move(type));
  graph.SetInput(reader, terms.bias_input, copy);
  return {};
}

// A bias that is not rounded yet only changes its parameters.
std::string ReexpressPending(Graph& graph, NodeId reader, const Terms& terms, ir::Type type) {
  const Node& quantize = *graph.Producer(terms.bias);
  const auto reals = graph.value(quantize.inputs[0]).constant->tensor.values<float>();
  for (size_t i = 0; i < reals.size(); ++i) {
    const double scale = type.quant->scale(static_cast<int64_t>(i));
    if (std::fabs(reals[i]) / scale > kMostCode) {
      return "its reader's bias would not fit 32 bits at the new scale";
    }
  }
  if (graph.CountUses(terms.bias) == 1) {
    graph.SetType(terms.bias, std::move(type));
    return {};
  }
  const std::string name = graph.UniqueName(graph.name(terms.bias));
  const NodeId own = graph.InsertBefore(
      reader, {.op = quantize.op, .inputs = quantize.inputs, .results = {{name, std::move(type)}}});
  graph.SetInput(reader, terms.bias_input, graph.node(own).result());
  return {};
}

bool IsPending(const Graph& graph, ValueId bias) {
  const Node* producer = graph.Producer(bias);
  return IsOwn(producer, "Quantize") && graph.IsConstant(producer->inputs[0]);
}

}  // namespace

std::string ReexpressBias(Graph& graph, NodeId reader, const ir::Type& data) {
  const Terms terms = TermsOf(graph.node(reader));
  if (!terms.bias || !graph.type(terms.bias).quantized()) return {};
  ir::Type type = TypeAt(graph.type(terms.bias), graph.type(terms.weight), data);
  if (graph.IsConstant(terms.bias)) return ReexpressCodes(graph, reader, terms, std::move(type));
  if (IsPending(graph, terms.bias)) return ReexpressPending(graph, reader, terms, std::move(type));
  return "its reader's bias is computed, so it cannot be re-expressed";
}

}  // namespace octavo::passes
