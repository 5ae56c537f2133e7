// SPDX-License-Identifier: Apache-2.0
#include "core/job/error_shares.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/data/hold_out.h"
#include "core/ir/output_channels.h"
#include "core/job/stages.h"
#include "core/ops/quantize_math.h"
#include "core/passes/rescale/same_type_groups.h"
#include "core/report/counterparts.h"
#include "core/report/group_errors.h"

namespace octavo::job {
namespace {

constexpr int64_t kBatches = 2;

// By the name of a value of the float graph: the place of its group among SameTypeGroups.
std::map<std::string, int, std::less<>> GroupsByName(const Quantized& quantized,
                                                     const passes::SameTypeGroups& groups) {
  const ir::Graph &floats = quantized.float_graph, &graph = quantized.rewriting.graph;
  std::map<std::string, int, std::less<>> by_name;
  for (const report::Counterpart& pair : report::FindCounterparts(floats, graph)) {
    const int group = groups.Of(pair.actual);
    if (group >= 0) by_name[floats.name(pair.baseline)] = group;
  }
  return by_name;
}

// A group with what is measured of it.
struct Measured {
  report::ScaleGroup values = {};
  GroupShare share = {};
  bool is_output = false;
  int place = -1;  // among SameTypeGroups
};

std::vector<Measured> GroupsToMeasure(const Quantized& quantized,
                                      const passes::SameTypeGroups& groups) {
  const ir::Graph &floats = quantized.float_graph, &graph = quantized.rewriting.graph;
  std::vector<Measured> measured;
  for (int g = 0; g < groups.size(); ++g) {
    Measured each{.values = {.type = groups.TypeOf(g)}, .place = g};
    each.share.has_8_bits = ir::SizeOf(each.values.type.dtype) == 1;
    std::set<ir::ValueId> seen;
    for (const ir::ValueId id : groups.members(g)) {
      if (graph.IsConstant(id)) continue;
      each.share.elements += graph.type(id).elements();
      const ir::ValueId value = report::BaselineOf(floats, graph, id);
      if (!value || floats.IsConstant(value) || !seen.insert(value).second) continue;
      if (floats.type(value).dtype != ir::DType::kF32) continue;
      each.is_output |= floats.IsOutput(value);
      if (each.share.names.empty()) {
        const ir::Node* node = report::ComputingNode(graph, id);
        if (node != nullptr) each.share.node = node->name;
      }
      each.values.values.push_back(value);
      each.share.names.push_back(floats.name(value));
    }
    if (!each.share.names.empty()) measured.push_back(std::move(each));
  }
  return measured;
}

// The constant as floats; nullopt for other values and other shapes.
std::optional<ir::Tensor> FloatsOf(const ir::Graph& graph, ir::ValueId id, const ir::Shape& shape) {
  if (!id) return std::nullopt;
  const ir::Node* producer = graph.Producer(id);  // of weights that float nodes multiply
  if (producer != nullptr && producer->op->domain == "octavo" &&
      producer->op->name == "Dequantize") {
    id = producer->inputs[0];
  }
  const ir::Type& type = graph.type(id);
  if (!graph.IsConstant(id) || !type.quantized() || type.shape != shape) return std::nullopt;
  return ops::DequantizeTensor(graph.value(id).constant->tensor, *type.quant);
}

// The layers that have integers as weights, in the order of computation.
std::vector<report::RoundedLayer> LayersOf(const ir::Graph& floats, const ir::Graph& graph) {
  std::vector<report::RoundedLayer> layers;
  for (const ir::NodeId id : graph.nodes()) {
    const ir::ProductOperands now = ir::ProductOperandsOf(graph.node(id));
    const ir::NodeId before = now.weight ? floats.FindNode(graph.node(id).name) : ir::NodeId{};
    if (!before || floats.node(before).erased) continue;
    const ir::Node& node = floats.node(before);
    const ir::ProductOperands was = ir::ProductOperandsOf(node);
    if (!was.weight || !floats.IsConstant(was.weight)) continue;
    std::optional<ir::Tensor> weight = FloatsOf(graph, now.weight, floats.type(was.weight).shape);
    if (!weight) continue;
    report::RoundedLayer layer{.node = before,
                               .weight_input = was.weight_input,
                               .bias_input = now.bias_input,
                               .weight = *std::move(weight)};
    if (now.bias && node.op == graph.node(id).op && (!was.bias || floats.IsConstant(was.bias))) {
      const ir::Shape& shape = was.bias ? floats.type(was.bias).shape : graph.type(now.bias).shape;
      layer.bias = FloatsOf(graph, now.bias, shape);
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

Result<report::OutputErrors> Measure(const JobContext& job, const Quantized& quantized,
                                     const std::vector<Measured>& groups,
                                     const std::vector<report::RoundedLayer>& layers) {
  std::vector<report::ScaleGroup> values;
  for (const Measured& each : groups) values.push_back(each.values);
  const SampleSets& samples = quantized.samples;
  const ir::Batches& all = samples.calibration.batches.empty() ? samples.evaluation.batches
                                                               : samples.calibration.batches;
  return report::ErrorsOf(quantized.float_graph, values, layers, data::FirstOf(all, kBatches),
                          *job.settings.target.numerics, *job.settings.pool, job.settings.stop);
}

}  // namespace

void SetGroups(const JobContext& job, const Quantized& quantized, report::DiffResult& figures) {
  const passes::SameTypeGroups groups(quantized.rewriting.graph, job.settings.target);
  const auto by_name = GroupsByName(quantized, groups);
  std::map<int, int64_t> numbers;
  const auto set = [&](v1::ValueNumerics& value) {
    const auto at = by_name.find(value.name());
    if (at == by_name.end()) return;
    const auto next = static_cast<int64_t>(numbers.size());
    value.set_group(numbers.try_emplace(at->second, next).first->second);
  };
  for (v1::ValueNumerics& value : figures.values) set(value);
  for (v1::ValueNumerics& value : figures.outputs) set(value);
}

Result<std::optional<ErrorShares>> MeasureErrorShares(const JobContext& job,
                                                      const Quantized& quantized,
                                                      report::DiffResult& figures) {
  const ir::Graph& graph = quantized.rewriting.graph;
  const passes::SameTypeGroups groups(graph, job.settings.target);
  std::vector<Measured> measured = GroupsToMeasure(quantized, groups);
  const std::vector<report::RoundedLayer> layers = LayersOf(quantized.float_graph, graph);
  OCTAVO_TRY(const report::OutputErrors errors, Measure(job, quantized, measured, layers));
  const double sum =
      std::accumulate(errors.layers.begin(), errors.layers.end(),
                      std::accumulate(errors.groups.begin(), errors.groups.end(), 0.0));
  if (!(sum > 0)) return std::optional<ErrorShares>();
  ErrorShares shares;
  std::map<int, double> by_place;
  double of_groups = 0, of_outputs = 0, of_weights = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    const double share = errors.groups[i] / sum;
    measured[i].share.share = by_place[measured[i].place] = share;
    (measured[i].is_output ? of_outputs : of_groups) += share;
    shares.elements += measured[i].share.elements;
    shares.groups.push_back(std::move(measured[i].share));
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    of_weights += errors.layers[i] / sum;
    shares.weights[quantized.float_graph.node(layers[i].node).name] = errors.layers[i] / sum;
  }
  shares.totals.set_weights(of_weights);
  shares.totals.set_activations(of_groups);
  shares.totals.set_outputs(of_outputs);
  const auto by_name = GroupsByName(quantized, groups);
  const auto set = [&](v1::ValueNumerics& value) {
    const auto name = by_name.find(value.name());
    const auto at = name == by_name.end() ? by_place.end() : by_place.find(name->second);
    if (at != by_place.end()) value.set_error_share(at->second);
  };
  for (v1::ValueNumerics& value : figures.values) set(value);
  for (v1::ValueNumerics& value : figures.outputs) set(value);
  std::ranges::stable_sort(shares.groups, std::greater<>{}, &GroupShare::share);
  return std::optional(std::move(shares));
}

}  // namespace octavo::job
