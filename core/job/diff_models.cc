#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/job/report_json.h"
#include "core/job/settings.h"
#include "core/job/survey.h"

namespace octavo::job {

Result<std::string> DiffModels(const ModelInput& reference, const ModelInput& input,
                               const std::string& against, const StopToken& stop,
                               const Observer& observer) {
  if (input.samples.empty()) return Fail(Code::kUsage, "diff needs --data").Field("data");
  const auto load = [&](const ModelInput& model) {
    return Load({.model = model.model,
                 .external_data = model.external_data,
                 .samples = input.samples,
                 .shape = input.shape,
                 .batch = input.batch});
  };
  OCTAVO_TRY(Loaded real, load(reference));
  OCTAVO_TRY(Loaded quantized, load(input));
  ThreadPool pool(input.threads);
  OCTAVO_CHECK(PrepareFloat(real.model.graph, pool, stop));

  const ir::Graph& graph = quantized.model.graph;
  Findings findings;
  findings.before = {.nodes = real.model.nodes, .ops = real.model.ops, .bytes = real.model.bytes};
  findings.after = {
      .nodes = quantized.model.nodes, .ops = quantized.model.ops, .bytes = quantized.model.bytes};
  findings.rescales_before = findings.rescales_after = CountRescales(graph);
  findings.float_nodes = FloatNodes(graph, findings.rewrites);
  findings.kept_rescales = KeptRescales(graph, findings.rewrites);
  findings.samples = quantized.samples.count;
  findings.samples_source = "data";
  OCTAVO_TRY(findings.numerics,
             report::Diff(real.model.graph, graph, quantized.samples.batches,
                          {.numerics = input.numerics,
                           .progress =
                               [&](int64_t done, int64_t total) {
                                 if (!observer) return;
                                 observer({.stage = "integer-run", .done = done, .total = total});
                               }},
                          pool, stop));
  if (!against.empty()) {
    OCTAVO_TRY(findings.against, report::CompareModes(graph, quantized.samples.batches,
                                                      input.numerics, against, pool, stop));
  }
  Request request;
  request.options.numerics = input.numerics;
  request.options.no_quantize = true;
  request.options.deterministic = true;
  OCTAVO_TRY(const passes::Settings settings, SettingsOf(request));
  return ReportJson(request.options, settings, findings);
}

}  // namespace octavo::job
