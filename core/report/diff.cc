#include "core/report/diff.h"

#include <unordered_map>

#include "core/ops/mode_quantize.h"
#include "core/reference/run.h"
#include "core/report/carriers.h"
#include "core/report/local.h"

namespace octavo::report {
namespace {

using ir::Graph;
using ir::Tensor;
using ir::ValueId;

class Differ {
 public:
  Differ(const Graph& float_graph, const Graph& quantized, const DiffOptions& options)
      : float_graph_(float_graph),
        quantized_(quantized),
        options_(options),
        mode_(ir::ParseNumerics(options.numerics).value_or(ir::Numerics::kOnnx)),
        carriers_(FindCarriers(float_graph, quantized)),
        local_(float_graph, quantized, mode_) {
    for (const Carrier& carrier : carriers_) {
      wanted_[carrier.actual].push_back(stats_.size());
      stats_.emplace_back(quantized.type(carrier.actual), float_graph.IsOutput(carrier.reference));
    }
    for (const ir::NodeId id : quantized.nodes()) {
      for (const ValueId result : quantized.node(id).results) {
        for (const ValueId reference : ReferencesOf(result)) ++uses_[reference];
      }
    }
  }

  Result<DiffResult> Run(const std::vector<std::vector<Tensor>>& batches, ThreadPool& pool,
                         const StopToken& stop) {
    const reference::KeptValues none, &kept = options_.kept ? *options_.kept : none;
    OCTAVO_TRY(reference::Session session, reference::Session::Create(float_graph_, kept.values));
    OCTAVO_TRY(const runtime::Plan plan,
               runtime::Plan::Create(
                   quantized_, {.numerics = options_.numerics, .keep_all_values = true}, pool));
    int64_t done = 0;
    for (const std::vector<Tensor>& batch : batches) {
      OCTAVO_CHECK(session.Start(batch, kept.OfSample(done)));
      OCTAVO_CHECK(RunSample(session, plan, batch, pool, stop));
      ++done;
      if (options_.progress) options_.progress(done, static_cast<int64_t>(batches.size()));
    }
    return Collect();
  }

 private:
  // The values of the float graph with which a computed value is compared.
  std::vector<ValueId> ReferencesOf(ValueId value) const {
    std::vector<ValueId> references;
    if (const auto at = wanted_.find(value); at != wanted_.end()) {
      for (const size_t index : at->second) references.push_back(carriers_[index].reference);
    }
    if (const ValueId local = local_.ReferenceOf(value)) references.push_back(local);
    return references;
  }

  // The float run that was started and the two integer ones side by side, so that a value is there
  // only as long as something reads it or is still to be compared with it.
  Status RunSample(reference::Session& session, const runtime::Plan& plan,
                   const std::vector<Tensor>& batch, ThreadPool& pool, const StopToken& stop) {
    left_ = uses_;
    real_.clear();
    for (size_t i = 0; i < batch.size(); ++i) Keep(float_graph_.inputs()[i], batch[i]);
    const std::vector<Tensor> inputs = InputsFor(batch, pool);
    std::vector<runtime::StepProfile> steps;
    OCTAVO_TRY(runtime::Execution run, plan.Begin(inputs, pool, &steps));
    OCTAVO_TRY(runtime::Execution alone, plan.Begin(inputs, pool));
    const auto real = [&](ValueId id) { return RealOf(id); };
    while (!run.done()) {
      const std::vector<ValueId> values = run.next();
      for (const ValueId id : values) OCTAVO_CHECK(Await(id, session, pool, stop));
      OCTAVO_CHECK(run.Step(stop));
      for (const ValueId id : values) {
        if (wanted_.count(id)) Compare(id, run.Value(id), pool);
      }
      OCTAVO_CHECK(local_.Step(alone, real, pool, stop));
      for (const ValueId id : values) Release(id);
    }
    AddSteps(std::move(steps));
    return {};
  }

  std::vector<Tensor> InputsFor(const std::vector<Tensor>& batch, ThreadPool& pool) {
    std::vector<Tensor> inputs;
    const std::vector<ValueId>& ids = quantized_.inputs();
    for (size_t i = 0; i < batch.size() && i < ids.size(); ++i) {
      const ir::Type& type = quantized_.type(ids[i]);
      const bool codes = type.quantized() && batch[i].dtype() == ir::DType::kF32;
      inputs.push_back(codes ? ops::QuantizeTensorIn(mode_, batch[i], type, &pool) : batch[i]);
      Compare(ids[i], inputs.back(), pool);
    }
    return inputs;
  }

  // Runs the float graph until it has what a value of the quantized one is compared with.
  Status Await(ValueId value, reference::Session& session, ThreadPool& pool,
               const StopToken& stop) {
    const auto watch = [&](ValueId id, const Tensor& tensor) {
      if (tensor.dtype() == ir::DType::kF32 && left_.count(id)) Keep(id, tensor);
    };
    for (const ValueId reference : ReferencesOf(value)) {
      while (RealOf(reference) == nullptr && !session.done()) {
        OCTAVO_CHECK(session.Advance(pool, stop, watch));
      }
    }
    return {};
  }

  void Keep(ValueId id, const Tensor& tensor) { real_[id] = tensor; }

  const Tensor* RealOf(ValueId id) const {
    const auto at = real_.find(id);
    return at == real_.end() ? nullptr : &at->second;
  }

  // A value has been compared; its references go if nothing else will be.
  void Release(ValueId value) {
    for (const ValueId reference : ReferencesOf(value)) {
      if (--left_[reference] == 0) real_.erase(reference);
    }
  }

  void AddSteps(std::vector<runtime::StepProfile> steps) {
    if (steps_.empty()) {
      steps_ = std::move(steps);
      return;
    }
    for (size_t i = 0; i < steps.size() && i < steps_.size(); ++i) {
      steps_[i].seconds += steps[i].seconds;
      steps_[i].operations += steps[i].operations;
    }
  }

  void Compare(ValueId id, const Tensor& actual, ThreadPool& pool) {
    const auto at = wanted_.find(id);
    if (at == wanted_.end()) return;
    for (const size_t index : at->second) {
      const Tensor* real = RealOf(carriers_[index].reference);
      if (real != nullptr) stats_[index].Add(*real, actual, pool);
    }
  }

  DiffResult Collect() {
    DiffResult result;
    std::unordered_map<ValueId, size_t> by_reference;
    for (size_t i = 0; i < carriers_.size(); ++i) {
      by_reference[carriers_[i].reference] = i;
      result.values.push_back({.name = float_graph_.name(carriers_[i].reference),
                               .figures = stats_[i].Finish(),
                               .local_sqnr_db = local_.SqnrOf(carriers_[i].actual),
                               .type = quantized_.type(carriers_[i].actual)});
    }
    for (const ValueId output : float_graph_.outputs()) {
      const auto at = by_reference.find(output);
      if (at != by_reference.end()) result.outputs.push_back(result.values[at->second]);
    }
    result.steps = std::move(steps_);
    return result;
  }

  const Graph& float_graph_;
  const Graph& quantized_;
  const DiffOptions& options_;
  const ir::Numerics mode_;  // an unknown one is refused by the plan
  std::vector<Carrier> carriers_;
  std::vector<ValueStats> stats_;
  std::unordered_map<ValueId, std::vector<size_t>> wanted_;
  LocalRuns local_;
  std::unordered_map<ValueId, int> uses_, left_;  // comparisons with a value of the float graph
  std::unordered_map<ValueId, Tensor> real_;
  std::vector<runtime::StepProfile> steps_;
};

}  // namespace

Result<DiffResult> Diff(const Graph& float_graph, const Graph& quantized,
                        const std::vector<std::vector<ir::Tensor>>& batches,
                        const DiffOptions& options, ThreadPool& pool, const StopToken& stop) {
  return Differ(float_graph, quantized, options).Run(batches, pool, stop);
}

}  // namespace octavo::report
