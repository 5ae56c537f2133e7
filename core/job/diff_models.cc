#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/job/report_json.h"
#include "core/job/settings.h"
#include "core/job/survey.h"
#include "core/ops/quantize_math.h"

namespace octavo::job {
namespace {

// Both graphs run on the same samples: inputs agree in order, name and shape, and in type but for
// codes where the reference takes reals.
Status CheckInputs(const ir::Graph& real, const ir::Graph& quantized) {
  if (real.inputs().size() != quantized.inputs().size()) {
    return Fail(Code::kInvalidArgument, "the model has {} inputs, but the reference {}",
                quantized.inputs().size(), real.inputs().size());
  }
  for (size_t i = 0; i < real.inputs().size(); ++i) {
    const std::string& name = real.name(real.inputs()[i]);
    const std::string& other = quantized.name(quantized.inputs()[i]);
    if (name != other) {
      return Fail(Code::kInvalidArgument,
                  "input {} of the model is '{}', but of the reference '{}'", i + 1, other, name)
          .Field(name);
    }
    const ir::Type& wanted = real.type(real.inputs()[i]);
    const ir::Type& type = quantized.type(quantized.inputs()[i]);
    const bool codes = type.quantized() && wanted.dtype == ir::DType::kF32;
    if (type.shape != wanted.shape || (type.dtype != wanted.dtype && !codes)) {
      return Fail(Code::kInvalidArgument,
                  "input '{}' of the model is {} [{}], but of the reference {} [{}]", name,
                  ir::Name(type.dtype), fmt::join(type.shape, ", "), ir::Name(wanted.dtype),
                  fmt::join(wanted.shape, ", "))
          .Field(name);
    }
  }
  return {};
}

// The samples as the graph takes them: codes where its input is quantized.
std::vector<std::vector<ir::Tensor>> AsTaken(const ir::Graph& graph,
                                             std::vector<std::vector<ir::Tensor>> batches,
                                             ThreadPool& pool) {
  for (std::vector<ir::Tensor>& batch : batches) {
    for (size_t i = 0; i < batch.size(); ++i) {
      const ir::Type& type = graph.type(graph.inputs()[i]);
      if (!type.quantized() || batch[i].dtype() != ir::DType::kF32) continue;
      batch[i] = ops::QuantizeTensor(batch[i], type, &pool);
    }
  }
  return batches;
}

}  // namespace

Result<std::string> DiffModels(const ModelInput& reference, const ModelInput& input,
                               const std::string& against, const StopToken& stop,
                               const Observer& observer) {
  if (input.samples.empty()) return Fail(Code::kUsage, "diff needs --data").Field("data");
  const auto load = [&](const ModelInput& model, LoadRequest::Use use) {
    LoadRequest request = RequestOf(model, input);
    request.use = use;
    return Load(request);
  };
  // The samples are the float model's; report::Diff makes codes of them where the other takes
  // codes.
  OCTAVO_TRY(Loaded real, load(reference, LoadRequest::Use::kRun));
  OCTAVO_TRY(Loaded quantized, load(input, LoadRequest::Use::kShapes));
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
  findings.kept_rescales = KeptRescales(graph, findings.rewrites);
  findings.samples = real.samples.count;
  findings.samples_source = "data";
  OCTAVO_TRY(findings.numerics,
             report::Diff(real.model.graph, graph, real.samples.batches,
                          {.numerics = input.numerics,
                           .progress =
                               [&](int64_t done, int64_t total) {
                                 if (!observer) return;
                                 observer({.stage = "integer-run", .done = done, .total = total});
                               }},
                          pool, stop));
  if (!against.empty()) {
    OCTAVO_TRY(findings.against,
               report::CompareModes(graph, AsTaken(graph, std::move(real.samples.batches), pool),
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
