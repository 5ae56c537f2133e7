// SPDX-License-Identifier: Apache-2.0
#include "core/report/diff.h"

#include <unordered_map>

#include "core/float_exec/run.h"
#include "core/numerics/mode_table.h"
#include "core/ops/quantize_math.h"
#include "core/report/accuracy.h"
#include "core/report/counterparts.h"
#include "core/report/local.h"
#include "core/report/useful_part.h"

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
        mode_(*options.numerics),
        counterparts_(FindCounterparts(float_graph, quantized)),
        nans_(quantized) {
    if (options.scope == DiffOptions::Scope::kOutputs) {
      std::erase_if(counterparts_,
                    [&](const Counterpart& each) { return !float_graph.IsOutput(each.baseline); });
    } else {
      local_.emplace(float_graph, quantized, mode_);
    }
    for (const Counterpart& counterpart : counterparts_) {
      wanted_[counterpart.actual].push_back(stats_.size());
      const ValueId baseline = counterpart.baseline;
      stats_.emplace_back(quantized.type(counterpart.actual),
                          float_graph.IsOutput(baseline) && RanksClasses(float_graph, baseline));
      drifts_.push_back(DriftOf(float_graph.name(baseline)));
      useful_.push_back(UsefulPart::Of(quantized, counterpart.actual));
    }
    for (const ir::NodeId id : quantized.nodes()) {
      for (const ValueId result : quantized.node(id).results) {
        for (const ValueId baseline : BaselinesOf(result)) ++uses_[baseline];
      }
    }
  }

  Result<DiffResult> Run(const ir::Batches& batches, ThreadPool& pool, const StopToken& stop) {
    const float_exec::KeptValues none, &kept = options_.kept ? *options_.kept : none;
    OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(float_graph_, kept.values));
    OCTAVO_TRY(
        const runtime::Plan plan,
        runtime::Plan::Create(quantized_, {.numerics = &mode_, .keep_all_values = true}, pool));
    OCTAVO_CHECK(FindScores());
    for (int64_t done = 0; done < batches.size(); ++done) {
      OCTAVO_TRY(const ir::Batches::Batch batch, batches.Read(done, stop));
      OCTAVO_CHECK(session.Start(batch, kept.OfSample(done)));
      OCTAVO_CHECK(RunSample(session, plan, batch, pool, stop));
      if (options_.progress) options_.progress(done + 1, batches.size());
    }
    return Collect();
  }

 private:
  // The counter of a value with a calibrated range.
  std::optional<DriftCounter> DriftOf(const std::string& name) const {
    if (options_.calibrated == nullptr) return std::nullopt;
    const auto at = options_.calibrated->find(name);
    if (at == options_.calibrated->end()) return std::nullopt;
    return DriftCounter(at->second);
  }

  // Finds the output that the labels are of.
  Status FindScores() {
    if (options_.labels == nullptr) return {};
    const auto output = ScoresOf(float_graph_, options_.batch);
    for (size_t i = 0; output && i < counterparts_.size(); ++i) {
      if (counterparts_[i].baseline == *output) scores_ = i;
    }
    if (!scores_) {
      return Fail(Code::kInvalidArgument,
                  "labels: no output of the model has a row of scores for each sample")
          .Field("labels")
          .Reason("INVALID_SAMPLES");
    }
    accuracy_.emplace(*options_.labels, options_.numbers);
    return {};
  }

  // The values of the float graph that are compared with a computed value.
  std::vector<ValueId> BaselinesOf(ValueId value) const {
    std::vector<ValueId> baselines;
    if (const auto at = wanted_.find(value); at != wanted_.end()) {
      for (const size_t index : at->second) baselines.push_back(counterparts_[index].baseline);
    }
    const ValueId local = local_ ? local_->BaselineFor(value) : ValueId{};
    if (local) baselines.push_back(local);
    return baselines;
  }

  // Interleaves the float run and the two integer runs: a value stays in memory only until its last
  // consumer and its last comparison.
  Status RunSample(float_exec::Session& session, const runtime::Plan& plan,
                   const std::vector<Tensor>& batch, ThreadPool& pool, const StopToken& stop) {
    left_ = uses_;
    float_tensors_.clear();
    for (size_t i = 0; i < batch.size(); ++i) Keep(float_graph_.inputs()[i], batch[i]);
    OCTAVO_TRY(const std::vector<Tensor> inputs, InputsFor(batch, pool));
    std::vector<runtime::StepProfile> steps;
    OCTAVO_TRY(runtime::Execution run, plan.Begin(inputs, pool, &steps));
    OCTAVO_TRY(runtime::Execution alone, plan.Begin(inputs, pool));
    const auto float_tensor = [&](ValueId id) { return FloatTensorOf(id); };
    while (!run.done()) {
      const std::vector<ValueId> values = run.next();
      for (const ValueId id : values) OCTAVO_CHECK(Await(id, session, pool, stop));
      OCTAVO_CHECK(run.Step(stop));
      for (const ValueId id : values) {
        if (wanted_.count(id)) OCTAVO_CHECK(Compare(id, run.Value(id), pool));
        if (nans_.Reads(id)) nans_.Count(id, run.Value(id));
      }
      if (local_) OCTAVO_CHECK(local_->Step(alone, float_tensor, pool, stop));
      for (const ValueId id : values) Release(id);
    }
    AddSteps(std::move(steps));
    return {};
  }

  Result<std::vector<Tensor>> InputsFor(const std::vector<Tensor>& batch, ThreadPool& pool) {
    std::vector<Tensor> inputs;
    const std::vector<ValueId>& ids = quantized_.inputs();
    for (size_t i = 0; i < batch.size() && i < ids.size(); ++i) {
      const ir::Type& type = quantized_.type(ids[i]);
      const bool quantize = type.quantized() && batch[i].dtype() == ir::DType::kF32;
      inputs.push_back(quantize ? ops::QuantizeTensor(mode_.quantize, batch[i], type, &pool)
                                : batch[i]);
      OCTAVO_CHECK(Compare(ids[i], inputs.back(), pool));
      nans_.Count(ids[i], inputs.back());
    }
    return inputs;
  }

  // Advances the float run until it has computed all baselines of `value`.
  Status Await(ValueId value, float_exec::Session& session, ThreadPool& pool,
               const StopToken& stop) {
    const auto watch = [&](ValueId id, const Tensor& tensor) {
      if (tensor.dtype() == ir::DType::kF32 && left_.count(id)) Keep(id, tensor);
    };
    for (const ValueId baseline : BaselinesOf(value)) {
      while (FloatTensorOf(baseline) == nullptr && !session.done()) {
        OCTAVO_CHECK(session.Advance(pool, stop, watch));
      }
    }
    return {};
  }

  void Keep(ValueId id, const Tensor& tensor) { float_tensors_[id] = tensor; }

  const Tensor* FloatTensorOf(ValueId id) const {
    const auto at = float_tensors_.find(id);
    return at == float_tensors_.end() ? nullptr : &at->second;
  }

  // Call after the comparison of `value`: frees its baselines after their last comparison.
  void Release(ValueId value) {
    for (const ValueId baseline : BaselinesOf(value)) {
      if (--left_[baseline] == 0) float_tensors_.erase(baseline);
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

  Status Compare(ValueId id, const Tensor& actual, ThreadPool& pool) {
    const auto at = wanted_.find(id);
    if (at == wanted_.end()) return {};
    for (const size_t index : at->second) {
      const Tensor* baseline = FloatTensorOf(counterparts_[index].baseline);
      if (baseline == nullptr) continue;
      const std::optional<UsefulPart>& useful = useful_[index];
      stats_[index].Add(useful ? useful->Clamped(*baseline) : *baseline, actual, pool);
      if (drifts_[index]) drifts_[index]->Add(*baseline, pool);
      if (scores_ == index) OCTAVO_CHECK(accuracy_->Add(*baseline, actual));
    }
    return {};
  }

  DiffResult Collect() {
    DiffResult result;
    std::unordered_map<ValueId, size_t> by_baseline;
    for (size_t i = 0; i < counterparts_.size(); ++i) {
      by_baseline[counterparts_[i].baseline] = i;
      v1::ValueNumerics& value = result.values.emplace_back(stats_[i].Finish());
      value.set_name(float_graph_.name(counterparts_[i].baseline));
      if (const ir::Node* node = ComputingNode(quantized_, counterparts_[i].actual)) {
        value.set_node(node->name);
        value.set_op(std::string(node->op->name));
      }
      const auto local = local_ ? local_->SqnrOf(counterparts_[i].actual) : std::nullopt;
      if (local) value.set_local_sqnr_db(*local);
      if (drifts_[i]) *value.mutable_drift() = drifts_[i]->Finish();
      result.saturated += stats_[i].saturated();
    }
    for (const ValueId output : float_graph_.outputs()) {
      const auto at = by_baseline.find(output);
      if (at != by_baseline.end()) result.outputs.push_back(result.values[at->second]);
    }
    result.steps = std::move(steps_);
    result.nan_inputs = nans_.Found();
    if (accuracy_) {
      result.accuracy = accuracy_->Finish();
      result.accuracy->set_output(float_graph_.name(counterparts_[*scores_].baseline));
    }
    return result;
  }

  const Graph& float_graph_;
  const Graph& quantized_;
  const DiffOptions& options_;
  const numerics::Mode& mode_;
  std::vector<Counterpart> counterparts_;
  std::vector<ValueStats> stats_;
  std::vector<std::optional<UsefulPart>> useful_;
  std::unordered_map<ValueId, std::vector<size_t>> wanted_;
  std::vector<std::optional<DriftCounter>> drifts_ = {};  // of each counterpart
  std::optional<LocalRuns> local_ = {};
  NanCounter nans_;
  std::unordered_map<ValueId, int> uses_, left_;  // comparisons left per value of the float graph
  std::unordered_map<ValueId, Tensor> float_tensors_;
  std::vector<runtime::StepProfile> steps_;
  std::optional<size_t> scores_ = {};  // index of the output that the labels are of
  std::optional<AccuracyCounter> accuracy_ = {};
};

}  // namespace

Result<DiffResult> Diff(const Graph& float_graph, const Graph& quantized,
                        const ir::Batches& batches, const DiffOptions& options, ThreadPool& pool,
                        const StopToken& stop) {
  return Differ(float_graph, quantized, options).Run(batches, pool, stop);
}

}  // namespace octavo::report
