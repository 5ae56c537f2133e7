// SPDX-License-Identifier: Apache-2.0
#include "core/report/group_errors.h"

#include <algorithm>
#include <unordered_map>

#include "core/float_exec/run.h"
#include "core/ops/quantize_math.h"

namespace octavo::report {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::ValueId;

using Tensors = std::unordered_map<ValueId, Tensor>;

// The values of one batch, and the outputs with some of them quantized.
class Batch {
 public:
  Batch(const Graph& graph, const numerics::Mode& mode, ThreadPool& pool, const StopToken& stop)
      : graph_(graph), mode_(mode), pool_(pool), stop_(stop) {}

  Status Record(float_exec::Session& session, const std::vector<Tensor>& inputs) {
    values_.clear();
    for (size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs()[i]] = inputs[i];
    const auto keep = [&](ValueId id, const Tensor& tensor) { values_[id] = tensor; };
    OCTAVO_CHECK(session.Start(inputs));
    while (!session.done()) OCTAVO_CHECK(session.Advance(pool_, stop_, keep));
    return {};
  }

  Result<double> ErrorOf(const ScaleGroup& group) {
    Tensors changed;
    for (const ValueId value : group.values) changed[value] = Rounded(value, group.type);
    return ErrorWith(std::move(changed), nullptr);
  }

  Result<double> ErrorOf(const RoundedLayer& layer) { return ErrorWith({}, &layer); }

 private:
  Result<double> ErrorWith(Tensors changed, const RoundedLayer* layer) const {
    for (const NodeId id : graph_.nodes()) {
      OCTAVO_CHECK(stop_.Check());
      OCTAVO_CHECK(Recompute(id, layer != nullptr && layer->node == id ? layer : nullptr, changed));
    }
    double sum = 0;
    int64_t outputs = 0;
    for (const ValueId output : graph_.outputs()) {
      if (graph_.type(output).dtype != ir::DType::kF32 || !values_.contains(output)) continue;
      const auto at = changed.find(output);
      const double signal = SquareOf(values_.at(output), nullptr);
      if (!(signal > 0)) continue;
      ++outputs;
      if (at != changed.end()) sum += SquareOf(values_.at(output), &at->second) / signal;
    }
    return outputs == 0 ? 0 : sum / static_cast<double>(outputs);
  }

  Tensor Rounded(ValueId value, ir::Type type) const {
    const Tensor& floats = values_.at(value);
    type.shape = floats.shape();
    const Tensor stored = ops::QuantizeTensor(mode_.quantize, floats, type, &pool_);
    Tensor rounded(ir::DType::kF32, floats.shape());
    ops::DequantizeInto(stored, *type.quant, rounded, &pool_);
    return rounded;
  }

  const Tensor* Find(ValueId id, const Tensors& changed) const {
    if (!id) return nullptr;
    if (const auto at = changed.find(id); at != changed.end()) return &at->second;
    if (graph_.IsConstant(id)) return &graph_.value(id).constant->tensor;
    return &values_.at(id);
  }

  // `layer` is that of the node, or null.
  Status Recompute(NodeId id, const RoundedLayer* layer, Tensors& changed) const {
    const Node& node = graph_.node(id);
    const auto is_changed = [&](ValueId value) { return value && changed.contains(value); };
    if (layer == nullptr && std::ranges::none_of(node.inputs, is_changed)) return {};
    if (std::ranges::all_of(node.results, is_changed)) return {};  // of the group itself
    std::vector<const Tensor*> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(Find(input, changed));
    if (layer != nullptr) {
      inputs[layer->weight_input] = &layer->weight;
      if (layer->bias) {
        inputs.resize(std::max(inputs.size(), layer->bias_input + 1));
        inputs[layer->bias_input] = &*layer->bias;
      }
    }
    std::vector<ir::Type> types;
    for (const ValueId result : node.results) types.push_back(graph_.type(result));
    OCTAVO_TRY(std::vector<Tensor> results, float_exec::Evaluate(node, inputs, types, pool_));
    for (size_t i = 0; i < results.size(); ++i) {
      changed.try_emplace(node.results[i], std::move(results[i]));
    }
    return {};
  }

  // The sum of squares of `values`, or of their differences from `others`.
  static double SquareOf(const Tensor& values, const Tensor* others) {
    const std::span<const float> x = values.values<float>();
    const std::span<const float> y =
        others != nullptr ? others->values<float>() : std::span<const float>();
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double d = double{x[i]} - (y.empty() ? 0.0 : double{y[i]});
      sum += d * d;
    }
    return sum;
  }

  const Graph& graph_;
  const numerics::Mode& mode_;
  ThreadPool& pool_;
  const StopToken& stop_;
  Tensors values_;
};

}  // namespace

Result<OutputErrors> ErrorsOf(const Graph& float_graph, std::span<const ScaleGroup> groups,
                              std::span<const RoundedLayer> layers, const ir::Batches& batches,
                              const numerics::Mode& mode, ThreadPool& pool, const StopToken& stop) {
  OutputErrors errors{.groups = std::vector<double>(groups.size(), 0),
                      .layers = std::vector<double>(layers.size(), 0)};
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(float_graph));
  Batch batch(float_graph, mode, pool, stop);
  const auto count = static_cast<double>(batches.size());
  for (int64_t b = 0; b < batches.size(); ++b) {
    OCTAVO_TRY(const ir::Batches::Batch inputs, batches.Read(b, stop));
    OCTAVO_CHECK(batch.Record(session, inputs));
    for (size_t i = 0; i < groups.size(); ++i) {
      OCTAVO_TRY(const double error, batch.ErrorOf(groups[i]));
      errors.groups[i] += error / count;
    }
    for (size_t i = 0; i < layers.size(); ++i) {
      OCTAVO_TRY(const double error, batch.ErrorOf(layers[i]));
      errors.layers[i] += error / count;
    }
  }
  return errors;
}

Result<std::vector<double>> GroupErrors(const Graph& float_graph,
                                        std::span<const ScaleGroup> groups,
                                        const ir::Batches& batches, const numerics::Mode& mode,
                                        ThreadPool& pool, const StopToken& stop) {
  OCTAVO_TRY(OutputErrors errors, ErrorsOf(float_graph, groups, {}, batches, mode, pool, stop));
  return std::move(errors.groups);
}

}  // namespace octavo::report
