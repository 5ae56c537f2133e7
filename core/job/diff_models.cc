// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/job/execute.h"
#include "core/job/job_warnings.h"
#include "core/job/load.h"
#include "core/job/opaque.h"
#include "core/job/prepare.h"
#include "core/job/report_json.h"
#include "core/job/sample_sets.h"
#include "core/job/settings.h"
#include "core/job/survey.h"
#include "core/ops/quantize_math.h"

namespace octavo::job {
namespace {

// Both graphs run on the same samples, so their inputs must agree in order, name, shape and dtype;
// only an input may be quantized that is float in the baseline.
Status CheckInputs(const ir::Graph& real, const ir::Graph& quantized) {
  if (real.inputs().size() != quantized.inputs().size()) {
    return Fail(Code::kInvalidArgument, "the model has {} inputs, but the baseline {}",
                quantized.inputs().size(), real.inputs().size());
  }
  for (size_t i = 0; i < real.inputs().size(); ++i) {
    const std::string& name = real.name(real.inputs()[i]);
    const std::string& other = quantized.name(quantized.inputs()[i]);
    if (name != other) {
      return Fail(Code::kInvalidArgument, "input {} of the model is '{}', but of the baseline '{}'",
                  i + 1, other, name)
          .Field(name);
    }
    const ir::Type& wanted = real.type(real.inputs()[i]);
    const ir::Type& type = quantized.type(quantized.inputs()[i]);
    const bool quantizes = type.quantized() && wanted.dtype == ir::DType::kF32;
    if (type.shape != wanted.shape || (type.dtype != wanted.dtype && !quantizes)) {
      return Fail(Code::kInvalidArgument,
                  "input '{}' of the model is {} [{}], but of the baseline {} [{}]", name,
                  ir::Name(type.dtype), fmt::join(type.shape, ", "), ir::Name(wanted.dtype),
                  fmt::join(wanted.shape, ", "))
          .Field(name);
    }
  }
  return {};
}

// Quantizes the samples of quantized inputs.  The arguments must outlive the result.
ir::Batches QuantizedFor(const ir::Graph& graph, const ir::Batches& batches, ThreadPool& pool) {
  return {batches.size(), [&](int64_t number, const StopToken& stop) -> Result<ir::Batches::Batch> {
            OCTAVO_TRY(ir::Batches::Batch batch, batches.Read(number, stop));
            for (size_t i = 0; i < batch.size(); ++i) {
              const ir::Type& type = graph.type(graph.inputs()[i]);
              if (!type.quantized() || batch[i].dtype() != ir::DType::kF32) continue;
              batch[i] = ops::QuantizeTensor(batch[i], type, &pool);
            }
            return batch;
          }};
}

}  // namespace

Result<std::string> DiffModels(const ModelInput& baseline, const ModelInput& input,
                               std::optional<const numerics::Mode*> against, const StopToken& stop,
                               const Observer& observer) {
  // The samples fit the float model; report::Diff quantizes them for quantized inputs.
  OCTAVO_TRY(Loaded real, LoadToRun(RequestOf(baseline, input, stop), "diff"));
  LoadRequest other = RequestOf(input, input, stop);
  other.use = LoadRequest::Use::kShapes;
  OCTAVO_TRY(Loaded quantized, Load(other));
  OCTAVO_CHECK(CheckInputs(real.model.graph, quantized.model.graph));
  ThreadPool pool(input.threads);
  OCTAVO_CHECK(PrepareFloat(real.model.graph, pool, stop));

  const ir::Graph& graph = quantized.model.graph;
  Findings findings;
  findings.before = {.nodes = real.model.nodes, .ops = real.model.ops, .bytes = real.model.bytes};
  findings.after = {
      .nodes = quantized.model.nodes, .ops = quantized.model.ops, .bytes = quantized.model.bytes};
  findings.rescales_before = findings.rescales_after = CountRescales(graph);
  findings.float_nodes = FloatNodes(graph, findings.rewrites);
  AddOpaqueNodes(quantized.model.contract, findings.float_nodes);
  WarnOfOpaque(quantized.model, findings.rewrites.warnings);
  findings.kept_rescales = KeptRescales(graph, findings.rewrites);
  findings.samples = real.samples.count;
  findings.samples_source = real.samples.random ? "random" : "data";
  findings.samples_role = Name(SamplesRole::kEvaluation);
  OCTAVO_TRY(findings.numerics,
             report::Diff(
                 real.model.graph, graph, real.samples.batches,
                 {.numerics = input.numerics,
                  .progress =
                      [&](int64_t done, int64_t total) {
                        if (!observer) return;
                        observer({.stage = "integer-run", .done = done, .total = total});
                      },
                  .labels = real.samples.labels ? &*real.samples.labels : nullptr,
                  .batch = real.samples.count / std::max<int64_t>(real.samples.batches.size(), 1)},
                 pool, stop));
  WarnOfSamples(real.samples, real.survey.get(), findings.rewrites.warnings);
  WarnOfSaturation(real.model.graph, *findings.numerics, findings.rewrites.warnings);
  WarnOfNans(findings.numerics->nan_inputs, findings.rewrites.warnings);
  if (real.survey) findings.inputs = real.survey->Inputs();
  if (against) {
    OCTAVO_TRY(findings.against,
               report::CompareModes(graph, QuantizedFor(graph, real.samples.batches, pool),
                                    input.numerics, *against, pool, stop));
  }
  Request request;
  request.options.numerics = input.numerics;
  request.options.no_quantize = true;
  request.options.deterministic = true;
  OCTAVO_TRY(const passes::Settings settings, SettingsOf(request));
  return ReportJson(settings.options, settings, findings);
}

}  // namespace octavo::job
