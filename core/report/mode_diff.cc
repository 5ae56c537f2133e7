#include "core/report/mode_diff.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "core/ir/numerics.h"
#include "core/ops/mode_quantize.h"
#include "core/runtime/plan.h"

namespace octavo::report {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::ValueId;

// One node's result, and the node alone in the second mode.
struct Observed {
  ModeDifference difference = {};
  ValueId result = {};
  Graph graph = {};
  std::vector<ValueId> operands = {};  // of the whole graph, for each input of `graph`
  std::optional<runtime::Plan> plan = {};
};

void TakeAlone(const Graph& whole, const Node& node, size_t result, Observed& observed) {
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
  Comparer(const Graph& graph, const std::string& numerics, const std::string& against)
      : graph_(graph), numerics_(numerics), against_(against) {}

  Status Prepare(ThreadPool& pool) {
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      for (size_t i = 0; i < node.results.size(); ++i) {
        const ir::Type& type = graph_.type(node.results[i]);
        if (!type.quantized()) continue;
        auto observed = std::make_unique<Observed>();
        observed->difference = {.value = graph_.name(node.results[i]),
                                .node = node.name,
                                .op = std::string(node.op->name),
                                .dtype = type.dtype};
        observed->result = node.results[i];
        TakeAlone(graph_, node, i, *observed);
        OCTAVO_TRY(runtime::Plan plan,
                   runtime::Plan::Create(observed->graph, {.numerics = against_}, pool));
        observed->plan.emplace(std::move(plan));
        places_[node.results[i]] = observed_.size();
        observed_.push_back(std::move(observed));
      }
    }
    return {};
  }

  Status Run(const std::vector<std::vector<Tensor>>& batches, ThreadPool& pool,
             const StopToken& stop) {
    OCTAVO_TRY(
        const runtime::Plan first,
        runtime::Plan::Create(graph_, {.numerics = numerics_, .keep_all_values = true}, pool));
    OCTAVO_TRY(
        const runtime::Plan second,
        runtime::Plan::Create(graph_, {.numerics = against_, .keep_all_values = true}, pool));
    for (const std::vector<Tensor>& batch : batches) {
      values_.clear();
      const std::vector<Tensor> inputs = InputsOf(batch, numerics_, pool);
      for (size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs()[i]] = inputs[i];
      OCTAVO_CHECK(first.Run(inputs, pool, stop, [&](ValueId id, const Tensor& tensor) {
        values_[id] = tensor.Clone();
      }));
      OCTAVO_CHECK(second.Run(
          InputsOf(batch, against_, pool), pool, stop, [&](ValueId id, const Tensor& tensor) {
            const auto at = places_.find(id);
            if (at == places_.end()) return;
            observed_[at->second]->difference.accumulated.Add(values_.at(id), tensor);
          }));
      OCTAVO_CHECK(RunAlone(pool, stop));
    }
    return {};
  }

  ModeComparison Take() {
    ModeComparison comparison{.numerics = numerics_, .against = against_, .values = {}};
    for (const auto& observed : observed_) comparison.values.push_back(observed->difference);
    return comparison;
  }

 private:
  // Real samples of an integer input are quantized as the mode does it.
  std::vector<Tensor> InputsOf(const std::vector<Tensor>& batch, const std::string& mode,
                               ThreadPool& pool) const {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < batch.size() && i < graph_.inputs().size(); ++i) {
      const ir::Type& type = graph_.type(graph_.inputs()[i]);
      const bool codes = type.quantized() && batch[i].dtype() == ir::DType::kF32;
      inputs.push_back(codes
                           ? ops::QuantizeTensorIn(*ir::ParseNumerics(mode), batch[i], type, &pool)
                           : batch[i]);
    }
    return inputs;
  }

  Status RunAlone(ThreadPool& pool, const StopToken& stop) {
    for (const auto& observed : observed_) {
      std::vector<Tensor> operands;
      for (const ValueId id : observed->operands) operands.push_back(values_.at(id));
      OCTAVO_TRY(const std::vector<Tensor> results, observed->plan->Run(operands, pool, stop));
      observed->difference.local.Add(values_.at(observed->result), results[0]);
    }
    return {};
  }

  const Graph& graph_;
  const std::string numerics_, against_;
  std::vector<std::unique_ptr<Observed>> observed_;
  std::unordered_map<ValueId, size_t> places_;
  std::unordered_map<ValueId, Tensor> values_;  // of the first mode, for one batch
};

}  // namespace

void StepCounts::Add(const Tensor& a, const Tensor& b) {
  elements += a.size();
  for (int64_t i = 0; i < a.size(); ++i) {
    const int64_t steps = std::abs(a.IntAt(i) - b.IntAt(i));
    if (steps > 0) ++different;
    max_steps = std::max(max_steps, steps);
    ++histogram[std::min<int64_t>(steps, 16)];
  }
}

Result<ModeComparison> CompareModes(const Graph& graph,
                                    const std::vector<std::vector<Tensor>>& batches,
                                    const std::string& numerics, const std::string& against,
                                    ThreadPool& pool, const StopToken& stop) {
  if (!ir::ParseNumerics(numerics)) {
    return Fail(Code::kUsage, "unknown numerics mode '{}'", numerics).Field("numerics");
  }
  if (!ir::ParseNumerics(against)) {
    return Fail(Code::kUsage, "unknown numerics mode '{}'", against).Field("against");
  }
  Comparer comparer(graph, numerics, against);
  OCTAVO_CHECK(comparer.Prepare(pool));
  OCTAVO_CHECK(comparer.Run(batches, pool, stop));
  return comparer.Take();
}

}  // namespace octavo::report
