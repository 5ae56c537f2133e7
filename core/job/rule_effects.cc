// SPDX-License-Identifier: Apache-2.0
#include "core/job/rule_effects.h"

#include <algorithm>
#include <cmath>

#include "core/float_exec/run.h"
#include "core/job/report_json.h"
#include "core/ops/quantize_math.h"
#include "core/report/metrics.h"
#include "core/runtime/plan.h"

namespace octavo::job {
namespace {

using ir::Graph;
using ir::Tensor;

// The scale of an output, or of the input of the Dequantize that produces it.
std::optional<float> StepOf(const Graph& graph, ir::ValueId output) {
  const ir::Node* node = graph.Producer(output);
  if (!graph.type(output).quantized() && node != nullptr && node->op->domain == "octavo") {
    output = node->inputs[0];
  }
  const ir::Type& type = graph.type(output);
  if (!type.quantized() || !type.quant->per_tensor()) return std::nullopt;
  return type.quant->scale();
}

// Adds one part per rule, with its count, in order of first application.
void AddParts(const RuleRun& run, v1::RuleRun& row) {
  for (const passes::LedgerEntry& entry : run.entries) {
    const std::string effect(passes::Name(entry.effect));
    const auto same = [&](const v1::RulePart& part) {
      return part.pass() == entry.pass && part.rule() == entry.rule && part.effect() == effect;
    };
    auto found = std::ranges::find_if(*row.mutable_parts(), same);
    if (found != row.mutable_parts()->end()) {
      found->set_count(found->count() + 1);
      continue;
    }
    v1::RulePart& part = *row.add_parts();
    part.set_pass(entry.pass);
    part.set_rule(entry.rule);
    part.set_effect(effect);
    part.set_count(1);
  }
}

v1::RuleRun RowOf(const RuleRun& run, Granularity granularity) {
  v1::RuleRun row;
  AddParts(run, row);
  row.set_pass(run.entries.front().pass);
  for (const v1::RulePart& part : row.parts()) {
    if (std::ranges::find(row.rules(), part.rule()) == row.rules().end()) {
      row.add_rules(part.rule());
    }
    if (part.pass() != run.entries.front().pass) row.clear_pass();
  }
  row.set_effect(std::string(passes::Name(run.effect())));
  row.set_count(static_cast<int64_t>(run.entries.size()));
  row.set_measured(run.measured);
  if (granularity == Granularity::kApplication) {
    for (const passes::LedgerEntry& entry : run.entries) *row.add_applications() = ToMessage(entry);
  }
  return row;
}

}  // namespace

RuleEffects::Batch RuleEffects::InputsOf(const Graph& graph, const Batch& batch) const {
  Batch inputs = batch;
  for (size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
    const ir::Type& type = graph.type(graph.inputs()[i]);
    const bool quantizes = type.quantized() && inputs[i].dtype() == ir::DType::kF32;
    if (quantizes) inputs[i] = ops::QuantizeTensor(inputs[i], type, &pool_);
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
  for (int64_t b = 0; b < batches_.size(); ++b) {
    OCTAVO_TRY(const Batch batch, batches_.Read(b, stop_));
    OCTAVO_TRY(std::vector<Tensor> outputs, plan.Run(InputsOf(graph, batch), pool_, stop_));
    Append(graph, std::move(outputs), outcomes);
  }
  return outcomes;
}

Result<RuleEffects::Outcomes> RuleEffects::ExecuteBaseline(const Graph& graph) const {
  Outcomes outcomes;
  for (const ir::ValueId id : graph.outputs()) outcomes.names.push_back(graph.name(id));
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  for (int64_t b = 0; b < batches_.size(); ++b) {
    OCTAVO_TRY(const Batch batch, batches_.Read(b, stop_));
    OCTAVO_TRY(std::vector<Tensor> outputs, session.Run(InputsOf(graph, batch), pool_, stop_));
    Append(graph, std::move(outputs), outcomes);
  }
  return outcomes;
}

// Outputs are compared by index, so their names must agree.
Status RuleEffects::CheckOutputs(const Outcomes& outcomes) const {
  if (outcomes.names != baseline_.names) {
    return Fail(Code::kInvalidArgument, "the outputs are {}, but the baseline's are {}",
                fmt::join(outcomes.names, ", "), fmt::join(baseline_.names, ", "));
  }
  for (size_t batch = 0; batch < outcomes.outputs.size(); ++batch) {
    for (size_t i = 0; i < baseline_.names.size(); ++i) {
      const int64_t is = outcomes.outputs[batch][i].size();
      const int64_t wanted = baseline_.outputs[batch][i].size();
      if (is == wanted) continue;
      return Fail(Code::kInvalidArgument,
                  "output '{}' has {} elements, but in the baseline it has {}", baseline_.names[i],
                  is, wanted)
          .Field(baseline_.names[i]);
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
  for (size_t batch = 0; batch < baseline_.outputs.size(); ++batch) {
    const Tensor& a = baseline_.outputs[batch][output];
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

Status RuleEffects::Begin(const Graph& baseline, const Graph& graph,
                          const numerics::Mode* numerics) {
  numerics_ = numerics;
  OCTAVO_TRY(baseline_, ExecuteBaseline(baseline));
  OCTAVO_TRY(last_, Execute(graph));
  return CheckOutputs(last_);
}

v1::OutputChange RuleEffects::ChangeOf(const Outcomes& now, size_t output) const {
  const Change change = Compare(last_, now, output);
  v1::OutputChange row;
  row.set_name(now.names[output]);
  row.set_elements(change.elements);
  row.set_changed(change.changed);
  if (now.steps[output]) {
    row.set_max_steps(std::llround(change.most / double{*now.steps[output]}));
  }
  row.set_max_abs(change.most);
  if (const auto sqnr = Sqnr(last_, output)) row.set_sqnr_db_before(*sqnr);
  if (const auto sqnr = Sqnr(now, output)) row.set_sqnr_db_after(*sqnr);
  return row;
}

void RuleEffects::NoteViolation(const v1::RuleRun& row, const RuleRun& run,
                                const v1::OutputChange& change) {
  if (!violation_.empty()) return;
  std::vector<std::string> rules;
  for (const v1::RulePart& part : row.parts()) rules.push_back(part.rule());
  violation_ = fmt::format(
      "{} ({} applications, the first at '{}') is recorded as exact, but {} of {} elements of "
      "output '{}' changed",
      fmt::join(rules, ", "), run.entries.size(), run.entries.front().node, change.changed(),
      change.elements(), change.name());
}

Status RuleEffects::Add(const RuleRun& run, const Graph& graph, Granularity granularity) {
  v1::RuleRun row = RowOf(run, granularity);
  if (run.measured) {
    OCTAVO_TRY(Outcomes now, Execute(graph));
    OCTAVO_CHECK(CheckOutputs(now));
    for (size_t i = 0; i < now.names.size(); ++i) {
      v1::OutputChange& change = *row.add_outputs();
      change = ChangeOf(now, i);
      change.set_violates_exact(run.effect() == passes::Effect::kExact && change.changed() > 0);
      if (change.violates_exact()) NoteViolation(row, run, change);
    }
    last_ = std::move(now);
  }
  rows_.push_back(std::move(row));
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
