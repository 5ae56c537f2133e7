// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/bias_rescale.h"

#include <algorithm>
#include <cmath>

#include "core/ir/output_channels.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

double MaxStored(int bits) { return std::ldexp(1.0, bits - 1) - 1; }

// The bias's type for data of type `data`.
ir::Type TypeAt(const ir::Type& bias, const ir::Type& weight, const ir::Type& data) {
  ir::Type type = bias;
  for (size_t c = 0; c < type.quant->scales.size(); ++c) {
    type.quant->scales[c] =
        ir::AccumulatorScale(*data.quant, *weight.quant, static_cast<int64_t>(c));
  }
  return type;
}

// The stored integers of a rounded bias, re-expressed for another type.
std::vector<double> RoundedAt(const Graph& graph, ValueId bias, const ir::Type& type) {
  const ir::Quant& old = *graph.type(bias).quant;
  const auto rounded = graph.value(bias).constant->tensor.values<int32_t>();
  std::vector<double> result;
  for (size_t i = 0; i < rounded.size(); ++i) {
    const auto c = static_cast<int64_t>(i);
    const double ratio = double{old.scale(c)} / double{type.quant->scale(c)};
    result.push_back(std::nearbyint(static_cast<double>(rounded[i]) * ratio));
  }
  return result;
}

// The coarsest scale at which a rounded bias may be re-expressed: a sixteenth of the result's step,
// so that the error is at most a thirty-second of that step.
float Coarsest(const Graph& graph, const Node& consumer, BiasScale allowed) {
  const ir::Type& result = graph.type(consumer.result());
  return allowed == BiasScale::kCoarser && result.quantized() ? result.quant->scale() / 16 : 0;
}

// The float values no longer exist: a rounded bias can be re-expressed at a finer scale, but at a
// coarser one only up to `coarsest`.
std::string WhyRoundedStays(const Graph& graph, ValueId bias, const ir::Type& type, int bits,
                            float coarsest) {
  const ir::Quant& old = *graph.type(bias).quant;
  for (size_t c = 0; c < old.scales.size(); ++c) {
    if (type.quant->scales[c] > std::max(old.scales[c], coarsest)) {
      return "the rounded bias of its consumer would get a coarser scale";
    }
  }
  for (const double stored : RoundedAt(graph, bias, type)) {
    if (std::fabs(stored) > MaxStored(bits)) {
      return fmt::format("the rounded bias of its consumer would overflow {} bits at the new scale",
                         bits);
    }
  }
  return {};
}

void ReexpressRounded(Graph& graph, NodeId consumer, const ir::ProductOperands& terms,
                      ir::Type type) {
  std::vector<int32_t> rounded;
  for (const double stored : RoundedAt(graph, terms.bias, type)) {
    rounded.push_back(static_cast<int32_t>(stored));
  }
  auto payload = ir::MakePayload(ir::Tensor::Of<int32_t>(type.shape, rounded));
  if (graph.CountUses(terms.bias) == 1) {
    graph.SetPayload(terms.bias, std::move(payload), std::move(type));
    return;
  }
  const ValueId copy = graph.AddConstant(graph.UniqueName(graph.name(terms.bias)),
                                         std::move(payload), std::move(type));
  graph.SetInput(consumer, terms.bias_input, copy);
}

std::string WhyPendingStays(const Graph& graph, ValueId bias, const ir::Type& type, int bits) {
  const Node& quantize = *graph.Producer(bias);
  const auto floats = graph.value(quantize.inputs[0]).constant->tensor.values<float>();
  for (size_t i = 0; i < floats.size(); ++i) {
    const double scale = type.quant->scale(static_cast<int64_t>(i));
    if (std::fabs(floats[i]) / scale > MaxStored(bits)) {
      return fmt::format("the bias of its consumer would overflow {} bits at the new scale", bits);
    }
  }
  return {};
}

// A pending bias is not rounded yet; only its parameters change.
void ReexpressPending(Graph& graph, NodeId consumer, const ir::ProductOperands& terms,
                      ir::Type type) {
  if (graph.CountUses(terms.bias) == 1) {
    graph.SetType(terms.bias, std::move(type));
    return;
  }
  const Node& quantize = *graph.Producer(terms.bias);
  const std::string name = graph.UniqueName(graph.name(terms.bias));
  const NodeId own = graph.InsertBefore(
      consumer,
      {.op = quantize.op, .inputs = quantize.inputs, .results = {{name, std::move(type)}}});
  graph.SetInput(consumer, terms.bias_input, graph.node(own).result());
}

bool IsPending(const Graph& graph, ValueId bias) {
  const Node* producer = graph.Producer(bias);
  return IsOwn(producer, "Quantize") && graph.IsConstant(producer->inputs[0]);
}

}  // namespace

std::string WhyBiasStays(const Graph& graph, NodeId consumer, const ir::Type& data, int bits,
                         BiasScale allowed) {
  const ir::ProductOperands terms = ir::ProductOperandsOf(graph.node(consumer));
  if (!terms.bias || !graph.type(terms.bias).quantized()) return {};
  const ir::Type type = TypeAt(graph.type(terms.bias), graph.type(terms.weight), data);
  if (graph.IsConstant(terms.bias)) {
    const float coarsest = Coarsest(graph, graph.node(consumer), allowed);
    return WhyRoundedStays(graph, terms.bias, type, bits, coarsest);
  }
  if (IsPending(graph, terms.bias)) return WhyPendingStays(graph, terms.bias, type, bits);
  return "the bias of its consumer is not constant, so it cannot be re-expressed";
}

std::string ReexpressBias(Graph& graph, NodeId consumer, const ir::Type& data, int bits,
                          BiasScale allowed) {
  std::string why = WhyBiasStays(graph, consumer, data, bits, allowed);
  const ir::ProductOperands terms = ir::ProductOperandsOf(graph.node(consumer));
  if (!why.empty() || !terms.bias || !graph.type(terms.bias).quantized()) return why;
  ir::Type type = TypeAt(graph.type(terms.bias), graph.type(terms.weight), data);
  if (graph.IsConstant(terms.bias)) {
    ReexpressRounded(graph, consumer, terms, std::move(type));
  } else {
    ReexpressPending(graph, consumer, terms, std::move(type));
  }
  return {};
}

}  // namespace octavo::passes
