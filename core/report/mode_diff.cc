// SPDX-License-Identifier: Apache-2.0
#include "core/report/mode_diff.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "core/numerics/mode_table.h"
#include "core/ops/quantize_math.h"
#include "core/report/pairs.h"
#include "core/runtime/plan.h"

namespace octavo::report {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::ValueId;

// Adds the distances, in steps, between the quantized values of two modes.
void AddSteps(const Tensor& a, const Tensor& b, v1::StepCounts& counts) {
  int64_t different = 0, most = counts.max_steps();
  auto& histogram = *counts.mutable_steps_histogram();
  for (int64_t i = 0; i < a.size(); ++i) {
    const int64_t steps = std::abs(a.IntAt(i) - b.IntAt(i));
    different += steps > 0;
    most = std::max(most, steps);
    ++histogram[static_cast<int>(std::min<int64_t>(steps, kStepBins - 1))];
  }
  counts.set_elements(counts.elements() + a.size());
  counts.set_different(counts.different() + different);
  counts.set_max_steps(most);
}

// A result of a node, and a graph that contains only this node, for the second mode.
struct Observed {
  v1::ModeDifference difference = {};
  ValueId result = {};
  Graph graph = {};
  std::vector<ValueId> operands = {};  // values of the whole graph, one per input of `graph`
  std::optional<runtime::Plan> plan = {};
};

void IsolateNode(const Graph& whole, const Node& node, size_t result, Observed& observed) {
  std::map<ValueId, ValueId> copies;
  Graph::Definition definition{.name = node.name, .op = node.op, .attributes = node.attributes};
  for (const ValueId input : node.inputs) {
    if (!input) {
      definition.inputs.emplace_back();
      continue;
    }
    const auto [at, added] = copies.emplace(input, ValueId{});
    const ir::Value& value = whole.value(input);
    if (added && value.constant) {
      at->second = observed.graph.AddConstant(value.name, value.constant, value.type);
    } else if (added) {
      at->second = observed.graph.AddInput(value.name, value.type);
      observed.operands.push_back(input);
    }
    definition.inputs.push_back(at->second);
  }
  for (const ValueId id : node.results) {
    definition.results.emplace_back(whole.name(id), whole.type(id));
  }
  const NodeId copy = observed.graph.AddNode(std::move(definition));
  observed.graph.AddOutput(observed.graph.node(copy).results[result]);
}

class Comparer {
 public:
  Comparer(const Graph& graph, const numerics::Mode* numerics, const numerics::Mode* against)
      : graph_(graph), numerics_(numerics), against_(against) {}

  Status Prepare(ThreadPool& pool) {
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      for (size_t i = 0; i < node.results.size(); ++i) {
        const ir::Type& type = graph_.type(node.results[i]);
        if (!type.quantized()) continue;
        auto observed = std::make_unique<Observed>();
        v1::ModeDifference& difference = observed->difference;
        difference.set_name(graph_.name(node.results[i]));
        difference.set_node(node.name);
        difference.set_op(std::string(node.op->name));
        difference.set_dtype(std::string(ir::Name(type.dtype)));
        difference.mutable_accumulated()->mutable_steps_histogram()->Resize(kStepBins, 0);
        difference.mutable_local()->mutable_steps_histogram()->Resize(kStepBins, 0);
        observed->result = node.results[i];
        IsolateNode(graph_, node, i, *observed);
        OCTAVO_TRY(runtime::Plan plan,
                   runtime::Plan::Create(observed->graph, {.numerics = against_}, pool));
        observed->plan.emplace(std::move(plan));
        places_[node.results[i]] = observed_.size();
        observed_.push_back(std::move(observed));
      }
    }
    return {};
  }

  Status Run(const ir::Batches& batches, ThreadPool& pool, const StopToken& stop) {
    OCTAVO_TRY(
        const runtime::Plan first,
        runtime::Plan::Create(graph_, {.numerics = numerics_, .keep_all_values = true}, pool));
    OCTAVO_TRY(
        const runtime::Plan second,
        runtime::Plan::Create(graph_, {.numerics = against_, .keep_all_values = true}, pool));
    for (int64_t b = 0; b < batches.size(); ++b) {
      OCTAVO_TRY(const ir::Batches::Batch batch, batches.Read(b, stop));
      values_.clear();
      const std::vector<Tensor> inputs = InputsOf(batch, numerics_, pool);
      for (size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs()[i]] = inputs[i];
      OCTAVO_CHECK(first.Run(inputs, pool, stop, [&](ValueId id, const Tensor& tensor) {
        values_[id] = tensor.Clone();
      }));
      OCTAVO_CHECK(second.Run(InputsOf(batch, against_, pool), pool, stop,
                              [&](ValueId id, const Tensor& tensor) {
                                const auto at = places_.find(id);
                                if (at == places_.end()) return;
                                AddSteps(values_.at(id), tensor,
                                         *observed_[at->second]->difference.mutable_accumulated());
                              }));
      OCTAVO_CHECK(RunAlone(pool, stop));
    }
    return {};
  }

  v1::ModeComparison Finish() const {
    v1::ModeComparison comparison;
    comparison.set_numerics_mode(std::string(against_->name));
    for (const auto& observed : observed_) *comparison.add_values() = observed->difference;
    return comparison;
  }

 private:
  // Quantizes the samples of integer inputs by the mode's rule.
  std::vector<Tensor> InputsOf(const std::vector<Tensor>& batch, const numerics::Mode* mode,
                               ThreadPool& pool) const {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < batch.size() && i < graph_.inputs().size(); ++i) {
      const ir::Type& type = graph_.type(graph_.inputs()[i]);
      const bool quantize = type.quantized() && batch[i].dtype() == ir::DType::kF32;
      inputs.push_back(quantize ? ops::QuantizeTensor(mode->quantize, batch[i], type, &pool)
                                : batch[i]);
    }
    return inputs;
  }

  Status RunAlone(ThreadPool& pool, const StopToken& stop) {
    for (const auto& observed : observed_) {
      std::vector<Tensor> operands;
      for (const ValueId id : observed->operands) operands.push_back(values_.at(id));
      OCTAVO_TRY(const std::vector<Tensor> results, observed->plan->Run(operands, pool, stop));
      AddSteps(values_.at(observed->result), results[0], *observed->difference.mutable_local());
    }
    return {};
  }

  const Graph& graph_;
  const numerics::Mode* const numerics_;
  const numerics::Mode* const against_;
  std::vector<std::unique_ptr<Observed>> observed_;
  std::unordered_map<ValueId, size_t> places_;
  std::unordered_map<ValueId, Tensor> values_;  // of the first mode, for one batch
};

}  // namespace

Result<v1::ModeComparison> CompareModes(const Graph& graph, const ir::Batches& batches,
                                        const numerics::Mode* numerics,
                                        const numerics::Mode* against, ThreadPool& pool,
                                        const StopToken& stop) {
  Comparer comparer(graph, numerics, against);
  OCTAVO_CHECK(comparer.Prepare(pool));
  OCTAVO_CHECK(comparer.Run(batches, pool, stop));
  return comparer.Finish();
}

}  // namespace octavo::report
