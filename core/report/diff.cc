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
        carriers_(FindCarriers(float_graph, quantized)) {
    for (const Carrier& carrier : carriers_) {
      wanted_[carrier.actual].push_back(stats_.size());
      stats_.emplace_back(quantized.type(carrier.actual), float_graph.IsOutput(carrier.reference));
    }
  }

  Result<DiffResult> Run(const std::vector<std::vector<Tensor>>& batches, ThreadPool& pool,
                         const StopToken& stop) {
    OCTAVO_TRY(reference::Session session, reference::Session::Create(float_graph_));
    OCTAVO_TRY(const runtime::Plan plan,
               runtime::Plan::Create(
                   quantized_, {.numerics = options_.numerics, .keep_all_values = true}, pool));
    OCTAVO_TRY(LocalRuns local,
               LocalRuns::Create(float_graph_, quantized_, options_.numerics, pool));
    const auto real = [&](ValueId id) -> const Tensor* {
      const auto at = real_.find(id);
      return at == real_.end() ? nullptr : &at->second;
    };
    int64_t done = 0;
    for (const std::vector<Tensor>& batch : batches) {
      OCTAVO_CHECK(RunFloat(session, batch, pool, stop));
      OCTAVO_CHECK(RunInteger(plan, batch, pool, stop));
      OCTAVO_CHECK(local.Add(real, pool, stop));
      real_.clear();
      ++done;
      if (options_.progress) options_.progress(done, static_cast<int64_t>(batches.size()));
    }
    return Collect(local);
  }

 private:
  Status RunFloat(reference::Session& session, const std::vector<Tensor>& batch, ThreadPool& pool,
                  const StopToken& stop) {
    for (size_t i = 0; i < batch.size() && i < float_graph_.inputs().size(); ++i) {
      real_[float_graph_.inputs()[i]] = batch[i];
    }
    const auto watch = [&](ValueId id, const Tensor& tensor) {
      if (tensor.dtype() == ir::DType::kF32) real_[id] = tensor;
    };
    OCTAVO_CHECK(session.Run(batch, pool, stop, watch));
    return {};
  }

  Status RunInteger(const runtime::Plan& plan, const std::vector<Tensor>& batch, ThreadPool& pool,
                    const StopToken& stop) {
    std::vector<Tensor> inputs;
    const std::vector<ValueId>& ids = quantized_.inputs();
    for (size_t i = 0; i < batch.size() && i < ids.size(); ++i) {
      const ir::Type& type = quantized_.type(ids[i]);
      const bool codes = type.quantized() && batch[i].dtype() == ir::DType::kF32;
      inputs.push_back(codes ? ops::QuantizeTensorIn(mode_, batch[i], type, &pool) : batch[i]);
      Compare(ids[i], inputs.back(), pool);
    }
    const auto watch = [&](ValueId id, const Tensor& tensor) { Compare(id, tensor, pool); };
    std::vector<runtime::StepProfile> steps;
    OCTAVO_CHECK(plan.Run(inputs, pool, stop, watch, &steps));
    if (steps_.empty()) {
      steps_ = std::move(steps);
      return {};
    }
    for (size_t i = 0; i < steps.size() && i < steps_.size(); ++i) {
      steps_[i].seconds += steps[i].seconds;
      steps_[i].operations += steps[i].operations;
    }
    return {};
  }

  void Compare(ValueId id, const Tensor& actual, ThreadPool& pool) {
    const auto at = wanted_.find(id);
    if (at == wanted_.end()) return;
    for (const size_t index : at->second) {
      const auto real = real_.find(carriers_[index].reference);
      if (real != real_.end()) stats_[index].Add(real->second, actual, pool);
    }
  }

  DiffResult Collect(const LocalRuns& local) {
    DiffResult result;
    std::unordered_map<ValueId, size_t> by_reference;
    for (size_t i = 0; i < carriers_.size(); ++i) {
      by_reference[carriers_[i].reference] = i;
      result.values.push_back({.name = float_graph_.name(carriers_[i].reference),
                               .figures = stats_[i].Finish(),
                               .local_sqnr_db = local.SqnrOf(carriers_[i].actual),
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
