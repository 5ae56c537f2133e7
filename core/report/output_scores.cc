// SPDX-License-Identifier: Apache-2.0
#include "core/report/output_scores.h"

#include <algorithm>
#include <cmath>

#include "core/float_exec/run.h"
#include "core/ops/quantize_math.h"
#include "core/report/metrics.h"
#include "core/runtime/plan.h"

namespace octavo::report {
namespace {

using ir::Graph;
using ir::Tensor;

// An output of zeros has no SQNR.
bool HasSignal(const Tensor& output) {
  return std::ranges::any_of(output.values<float>(),
                             [](float x) { return x != 0 && std::isfinite(x); });
}

// Whether the two outputs can be compared: floats, and the same elements in floats or integers.
bool Comparable(const Tensor& baseline, const ir::Type& type) {
  return baseline.dtype() == ir::DType::kF32 && baseline.shape() == type.shape &&
         (type.quantized() || type.dtype == ir::DType::kF32);
}

double ScoreOf(const Tensor& baseline, const Tensor& actual, const ir::Type& type,
               ThreadPool& pool) {
  ValueStats stats(type, /*with_top1=*/false);
  stats.Add(baseline, actual, pool);
  const v1::ValueNumerics figures = stats.Finish();
  if (figures.exact()) return kMostScoreDb;
  return figures.has_sqnr_db() ? std::min(kMostScoreDb, figures.sqnr_db()) : -kMostScoreDb;
}

std::vector<Tensor> InputsFor(const Graph& graph, const numerics::Mode& mode,
                              const ir::Batches::Batch& batch, ThreadPool& pool) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < batch.size() && i < graph.inputs().size(); ++i) {
    const ir::Type& type = graph.type(graph.inputs()[i]);
    const bool quantize = type.quantized() && batch[i].dtype() == ir::DType::kF32;
    inputs.push_back(quantize ? ops::QuantizeTensor(mode.quantize, batch[i], type, &pool)
                              : batch[i]);
  }
  return inputs;
}

}  // namespace

Result<OutputScores> OutputScores::Create(const Graph& float_graph, const ir::Batches& batches,
                                          ThreadPool& pool, const StopToken& stop) {
  std::vector<std::vector<Tensor>> all;
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(float_graph));
  for (int64_t b = 0; b < batches.size(); ++b) {
    OCTAVO_TRY(const ir::Batches::Batch batch, batches.Read(b, stop));
    OCTAVO_TRY(std::vector<Tensor> outputs, session.Run(batch, pool, stop));
    all.push_back(std::move(outputs));
  }
  return OutputScores(batches, std::move(all));
}

Result<std::optional<double>> OutputScores::Of(const Graph& quantized, const numerics::Mode& mode,
                                               const std::function<void()>& progress,
                                               ThreadPool& pool, const StopToken& stop) const {
  OCTAVO_TRY(const runtime::Plan plan, runtime::Plan::Create(quantized, {.numerics = &mode}, pool));
  double sum = 0;
  int64_t count = 0;
  for (int64_t b = 0; b < batches_.size(); ++b) {
    OCTAVO_TRY(const ir::Batches::Batch batch, batches_.Read(b, stop));
    OCTAVO_TRY(const std::vector<Tensor> actual,
               plan.Run(InputsFor(quantized, mode, batch, pool), pool, stop));
    const std::vector<Tensor>& baseline = outputs_[static_cast<size_t>(b)];
    for (size_t i = 0; i < baseline.size() && i < actual.size(); ++i) {
      const ir::Type& type = quantized.type(quantized.outputs()[i]);
      if (!Comparable(baseline[i], type) || !HasSignal(baseline[i])) continue;
      sum += ScoreOf(baseline[i], actual[i], type, pool);
      ++count;
    }
    if (progress) progress();
  }
  if (count == 0) return std::optional<double>();
  return std::optional<double>(sum / static_cast<double>(count));
}

}  // namespace octavo::report
