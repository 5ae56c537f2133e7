// Runs the graph before and after each run of rules on the samples and compares its outputs with
// those before, and with the float model's.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/job/replay.h"
#include "core/ops/quantize_math.h"
#include "core/reference/run.h"
#include "core/report/metrics.h"
#include "core/report/render_json.h"
#include "core/runtime/plan.h"

namespace octavo::job {
namespace {

using ir::Graph;
using ir::Tensor;
using nlohmann::ordered_json;
using Batch = std::vector<Tensor>;

// What a graph gives for all samples, in reals: outputs[batch][output].
struct Outcomes {
  std::vector<std::vector<Tensor>> outputs = {};
  std::vector<std::optional<float>> steps = {};  // of each output's codes, where it has one scale
};

// The type of the codes that an output gives, or below its Dequantize.
std::optional<float> StepOf(const Graph& graph, ir::ValueId output) {
  const ir::Node* node = graph.Producer(output);
  if (!graph.type(output).quantized() && node != nullptr && node->op->domain == "octavo") {
    output = node->inputs[0];
  }
  const ir::Type& type = graph.type(output);
  if (!type.quantized() || !type.quant->per_tensor()) return std::nullopt;
  return type.quant->scale();
}

Result<Outcomes> Execute(const Graph& graph, const std::string& numerics,
                         const std::vector<Batch>& batches, ThreadPool& pool,
                         const StopToken& stop) {
  Outcomes outcomes;
  for (const ir::ValueId id : graph.outputs()) outcomes.steps.push_back(StepOf(graph, id));
  OCTAVO_TRY(const runtime::Plan plan, runtime::Plan::Create(graph, {.numerics = numerics}, pool));
  for (const Batch& batch : batches) {
    Batch inputs = batch;
    for (size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
      const ir::Type& type = graph.type(graph.inputs()[i]);
      const bool codes = type.quantized() && inputs[i].dtype() == ir::DType::kF32;
      if (codes) inputs[i] = ops::QuantizeTensor(inputs[i], type, &pool);
    }
    OCTAVO_TRY(std::vector<Tensor> outputs, plan.Run(inputs, pool, stop));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ir::Type& type = graph.type(graph.outputs()[i]);
      outputs[i] = type.quantized() ? ops::DequantizeTensor(outputs[i], *type.quant, &pool)
                                    : outputs[i].Clone();
    }
    outcomes.outputs.push_back(std::move(outputs));
  }
  return outcomes;
}

Result<Outcomes> ExecuteFloat(const Graph& graph, const std::vector<Batch>& batches,
                              ThreadPool& pool, const StopToken& stop) {
  Outcomes outcomes;
  OCTAVO_TRY(reference::Session session, reference::Session::Create(graph));
  for (const Batch& batch : batches) {
    OCTAVO_TRY(std::vector<Tensor> outputs, session.Run(batch, pool, stop));
    for (Tensor& output : outputs) output = output.Clone();
    outcomes.outputs.push_back(std::move(outputs));
  }
  return outcomes;
}

struct Change {
  int64_t elements = 0, changed = 0;
  double most = 0;  // in reals
};
Change Compare(const Outcomes& was, const Outcomes& is, size_t output) {
  Change change;
  for (size_t batch = 0; batch < was.outputs.size(); ++batch) {
    const Tensor& a = was.outputs[batch][output];
    const Tensor& b = is.outputs[batch][output];
    for (int64_t i = 0; i < a.size(); ++i) {
      const double x = a.FloatAt(i), y = b.FloatAt(i);
      ++change.elements;
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      ++change.changed;
      change.most = std::max(change.most, std::fabs(x - y));
    }
  }
  return change;
}

std::optional<double> Sqnr(const Outcomes& real, const Outcomes& is, size_t output) {
  double signal = 0, noise = 0;
  for (size_t batch = 0; batch < real.outputs.size(); ++batch) {
    const Tensor& a = real.outputs[batch][output];
    const Tensor& b = is.outputs[batch][output];
    for (int64_t i = 0; i < a.size(); ++i) {
      const double x = a.FloatAt(i), error = x - b.FloatAt(i);
      if (!std::isfinite(x) || !std::isfinite(error)) continue;
      signal += x * x;
      noise += error * error;
    }
  }
  return report::SqnrDb(signal, noise);
}

class Measurer {
 public:
  Measurer(const std::vector<Batch>& batches, ThreadPool& pool, const StopToken& stop,
           const Observer& observer)
      : batches_(batches), pool_(pool), stop_(stop), observer_(observer) {}

  Status Visit(const Replayed& replayed, const RuleRun& run, const Graph& graph) {
    numerics_ = target::Name(replayed.settings.target.numerics);
    OCTAVO_TRY(Outcomes now, Execute(graph, numerics_, batches_, pool_, stop_));
    if (observer_) observer_({.stage = "integer-run", .pass = run.pass, .done = ++runs_});
    if (!begun_) {
      begun_ = true;
      OCTAVO_TRY(real_, ExecuteFloat(replayed.float_graph, batches_, pool_, stop_));
    } else {
      OCTAVO_CHECK(Compare(run, graph, now));
    }
    last_ = std::move(now);
    return {};
  }

  // Whether the replay ends where the model that was given stands.
  Status CheckSame(const Graph& given) {
    OCTAVO_TRY(const Outcomes outcomes, Execute(given, numerics_, batches_, pool_, stop_));
    for (size_t i = 0; i < given.outputs().size(); ++i) {
      const Change change = job::Compare(last_, outcomes, i);
      if (change.changed == 0) continue;
      return Fail(Code::kInvalidArgument,
                  "the job run again gives {} of {} elements of output '{}' another value than the "
                  "quantized model does: name the report of its job with --options-from, and its "
                  "--profile if it had one",
                  change.changed, change.elements, given.name(given.outputs()[i]))
          .Field("options_from")
          .Reason("REPLAY_MISMATCH");
    }
    return {};
  }

  ordered_json Json() { return std::move(json_); }

 private:
  Status Compare(const RuleRun& run, const Graph& graph, const Outcomes& now) {
    ordered_json outputs = ordered_json::array();
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const std::string& name = graph.name(graph.outputs()[i]);
      const Change change = job::Compare(last_, now, i);
      if (run.effect == passes::Effect::kExact && change.changed > 0) {
        return Fail(Code::kInternal,
                    "pass '{}': {} applications of {} are recorded as exact, but {} of {} elements "
                    "of output '{}' changed",
                    run.pass, run.applications, fmt::join(run.rules, ", "), change.changed,
                    change.elements, name);
      }
      ordered_json steps = nullptr;
      if (now.steps[i]) steps = std::llround(change.most / double{*now.steps[i]});
      outputs.push_back({{"name", name},
                         {"elements", change.elements},
                         {"changed", change.changed},
                         {"max_steps", std::move(steps)},
                         {"sqnr_db_before", report::OrNull(Sqnr(real_, last_, i))},
                         {"sqnr_db_after", report::OrNull(Sqnr(real_, now, i))}});
    }
    json_.push_back({{"pass", run.pass},
                     {"rules", run.rules},
                     {"effect", passes::Name(run.effect)},
                     {"count", run.applications},
                     {"outputs", std::move(outputs)}});
    return {};
  }

  const std::vector<Batch>& batches_;
  ThreadPool& pool_;
  const StopToken& stop_;
  const Observer& observer_;
  std::string numerics_;
  bool begun_ = false;
  int64_t runs_ = 0;
  Outcomes real_, last_;
  ordered_json json_ = ordered_json::array();
};

}  // namespace

Result<std::string> AddByRule(std::string report_json, const ByRule& by_rule,
                              const ModelInput& reference, const ModelInput& input,
                              const StopToken& stop, const Observer& observer) {
  Options options;
  if (by_rule.options_from) {
    OCTAVO_TRY(options, OptionsOfReport(by_rule.options_from->bytes.text()));
  } else {
    options.shape = input.shape;
    options.batch = input.batch;
    options.numerics = input.numerics;
  }
  OCTAVO_TRY(const Loaded given, Load({.model = input.model,
                                       .external_data = input.external_data,
                                       .samples = input.samples,
                                       .shape = options.shape,
                                       .batch = options.batch}));
  ModelInput model = reference;
  model.samples = input.samples;
  ThreadPool pool(input.threads);
  Measurer measurer(given.samples.batches, pool, stop, observer);
  OCTAVO_CHECK(Replay(model, options, by_rule.profile, pool, stop,
                      [&](const Replayed& replayed, const RuleRun& run, const Graph& graph) {
                        return measurer.Visit(replayed, run, graph);
                      }));
  OCTAVO_CHECK(measurer.CheckSame(given.model.graph));
  ordered_json report = ordered_json::parse(report_json);
  report["by_rule"] = measurer.Json();
  return report.dump(1, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace octavo::job
