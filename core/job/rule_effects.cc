#include "core/job/rule_effects.h"

#include <cmath>

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

// The scale of the codes that an output gives, or below its Dequantize.
std::optional<float> StepOf(const Graph& graph, ir::ValueId output) {
  const ir::Node* node = graph.Producer(output);
  if (!graph.type(output).quantized() && node != nullptr && node->op->domain == "octavo") {
    output = node->inputs[0];
  }
  const ir::Type& type = graph.type(output);
  if (!type.quantized() || !type.quant->per_tensor()) return std::nullopt;
  return type.quant->scale();
}

// Rows of one pass, rule and effect, in the order in which they first stand there.
ordered_json PartsJson(const RuleRun& run) {
  ordered_json parts = ordered_json::array();
  for (const passes::LedgerEntry& entry : run.entries) {
    const std::string effect(passes::Name(entry.effect));
    ordered_json* found = nullptr;
    for (ordered_json& part : parts) {
      const bool same =
          part["pass"] == entry.pass && part["rule"] == entry.rule && part["effect"] == effect;
      if (same) found = &part;
    }
    if (found != nullptr) {
      (*found)["count"] = (*found)["count"].get<int64_t>() + 1;
    } else {
      parts.push_back(
          {{"pass", entry.pass}, {"rule", entry.rule}, {"effect", effect}, {"count", 1}});
    }
  }
  return parts;
}

ordered_json ApplicationsJson(const RuleRun& run) {
  ordered_json applications = ordered_json::array();
  for (const passes::LedgerEntry& entry : run.entries) {
    applications.push_back({{"pass", entry.pass},
                            {"rule", entry.rule},
                            {"effect", passes::Name(entry.effect)},
                            {"node", entry.node},
                            {"values", entry.values}});
  }
  return applications;
}

}  // namespace

RuleEffects::Batch RuleEffects::AsTaken(const Graph& graph, const Batch& batch) const {
  Batch inputs = batch;
  for (size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
    const ir::Type& type = graph.type(graph.inputs()[i]);
    const bool codes = type.quantized() && inputs[i].dtype() == ir::DType::kF32;
    if (codes) inputs[i] = ops::QuantizeTensor(inputs[i], type, &pool_);
  }
  return inputs;
}

void RuleEffects::Append(const Graph& graph, std::vector<Tensor> outputs,
                         Outcomes& outcomes) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Type& type = graph.type(graph.outputs()[i]);
    outputs[i] = type.quantized() ? ops::DequantizeTensor(outputs[i], *type.quant, &pool_)
                                  : outputs[i].Clone();
  }
  outcomes.outputs.push_back(std::move(outputs));
}

Result<RuleEffects::Outcomes> RuleEffects::Execute(const Graph& graph) const {
  Outcomes outcomes;
  for (const ir::ValueId id : graph.outputs()) {
    outcomes.names.push_back(graph.name(id));
    outcomes.steps.push_back(StepOf(graph, id));
  }
  OCTAVO_TRY(const runtime::Plan plan,
             runtime::Plan::Create(graph, {.numerics = numerics_}, pool_));
  for (const Batch& batch : batches_) {
    OCTAVO_TRY(std::vector<Tensor> outputs, plan.Run(AsTaken(graph, batch), pool_, stop_));
    Append(graph, std::move(outputs), outcomes);
  }
  return outcomes;
}

Result<RuleEffects::Outcomes> RuleEffects::ExecuteReference(const Graph& graph) const {
  Outcomes outcomes;
  for (const ir::ValueId id : graph.outputs()) outcomes.names.push_back(graph.name(id));
  OCTAVO_TRY(reference::Session session, reference::Session::Create(graph));
  for (const Batch& batch : batches_) {
    OCTAVO_TRY(std::vector<Tensor> outputs, session.Run(AsTaken(graph, batch), pool_, stop_));
    Append(graph, std::move(outputs), outcomes);
  }
  return outcomes;
}

// Outputs are compared by their place, so they must be the same ones.
Status RuleEffects::CheckOutputs(const Outcomes& outcomes) const {
  if (outcomes.names != real_.names) {
    return Fail(Code::kInvalidArgument, "the outputs are {}, but the reference's are {}",
                fmt::join(outcomes.names, ", "), fmt::join(real_.names, ", "));
  }
  for (size_t batch = 0; batch < batches_.size(); ++batch) {
    for (size_t i = 0; i < real_.names.size(); ++i) {
      const int64_t is = outcomes.outputs[batch][i].size();
      const int64_t wanted = real_.outputs[batch][i].size();
      if (is == wanted) continue;
      return Fail(Code::kInvalidArgument,
                  "output '{}' has {} elements, but in the reference it has {}", real_.names[i], is,
                  wanted)
          .Field(real_.names[i]);
    }
  }
  return {};
}

RuleEffects::Change RuleEffects::Compare(const Outcomes& was, const Outcomes& is, size_t output) {
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

std::optional<double> RuleEffects::Sqnr(const Outcomes& is, size_t output) const {
  double signal = 0, noise = 0;
  for (size_t batch = 0; batch < real_.outputs.size(); ++batch) {
    const Tensor& a = real_.outputs[batch][output];
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

Status RuleEffects::Begin(const Graph& reference, const Graph& graph, const std::string& numerics) {
  numerics_ = numerics;
  OCTAVO_TRY(real_, ExecuteReference(reference));
  OCTAVO_TRY(last_, Execute(graph));
  return CheckOutputs(last_);
}

ordered_json RuleEffects::OutputsJson(const RuleRun& run, const Outcomes& now) {
  ordered_json outputs = ordered_json::array();
  for (size_t i = 0; i < now.names.size(); ++i) {
    const Change change = Compare(last_, now, i);
    const bool violates = run.effect() == passes::Effect::kExact && change.changed > 0;
    if (violates && violation_.empty()) {
      std::vector<std::string> rules;
      for (const auto& part : PartsJson(run)) {
        rules.push_back(
            fmt::format("{}/{}", part["pass"].get<std::string>(), part["rule"].get<std::string>()));
      }
      violation_ = fmt::format(
          "{} ({} applications, the first at '{}') is recorded as exact, but {} of {} elements of "
          "output '{}' changed",
          fmt::join(rules, ", "), run.entries.size(), run.entries.front().node, change.changed,
          change.elements, now.names[i]);
    }
    ordered_json steps = nullptr;
    if (now.steps[i]) steps = std::llround(change.most / double{*now.steps[i]});
    outputs.push_back({{"name", now.names[i]},
                       {"elements", change.elements},
                       {"changed", change.changed},
                       {"max_steps", std::move(steps)},
                       {"max_abs", change.most},
                       {"sqnr_db_before", report::OrNull(Sqnr(last_, i))},
                       {"sqnr_db_after", report::OrNull(Sqnr(now, i))},
                       {"violates_exact", violates}});
  }
  return outputs;
}

Status RuleEffects::Add(const RuleRun& run, const Graph& graph, Granularity granularity) {
  ordered_json parts = PartsJson(run);
  ordered_json rules = ordered_json::array();
  std::string pass = run.entries.front().pass;
  for (const ordered_json& part : parts) {
    if (std::find(rules.begin(), rules.end(), part["rule"]) == rules.end()) {
      rules.push_back(part["rule"]);
    }
    if (part["pass"] != pass) pass.clear();
  }
  ordered_json outputs = ordered_json::array();
  if (run.measured) {
    OCTAVO_TRY(Outcomes now, Execute(graph));
    OCTAVO_CHECK(CheckOutputs(now));
    outputs = OutputsJson(run, now);
    last_ = std::move(now);
  }
  ordered_json row = {{"pass", pass},
                      {"rules", std::move(rules)},
                      {"effect", passes::Name(run.effect())},
                      {"count", run.entries.size()},
                      {"measured", run.measured},
                      {"parts", std::move(parts)},
                      {"outputs", std::move(outputs)}};
  if (granularity == Granularity::kApplication) row["applications"] = ApplicationsJson(run);
  json_.push_back(std::move(row));
  return {};
}

Status RuleEffects::CheckSame(const Graph& given) const {
  OCTAVO_TRY(const Outcomes outcomes, Execute(given));
  OCTAVO_CHECK(CheckOutputs(outcomes));
  for (size_t i = 0; i < given.outputs().size(); ++i) {
    const Change change = Compare(last_, outcomes, i);
    if (change.changed == 0) continue;
    return Fail(Code::kInvalidArgument,
                "the job run again gives {} of {} elements of output '{}' another value than the "
                "model does: name the report of its job with --options-from, its --target file, "
                "and its --profile (of other samples than these: octavo profile makes it)",
                change.changed, change.elements, given.name(given.outputs()[i]))
        .Field("options_from")
        .Reason("REPLAY_MISMATCH");
  }
  return {};
}

}  // namespace octavo::job
