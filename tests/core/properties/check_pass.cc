// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/check_pass.h"

#include <algorithm>
#include <cmath>

#include "core/ops/quantize_math.h"
#include "core/text/print.h"
#include "tests/core/properties/bounds.h"
#include "tests/core/properties/signs.h"
#include "tests/support/random_inputs.h"

namespace octavo::test {
namespace {

using ir::Graph;
using ir::ValueId;
using passes::Effect;
using passes::Findings;

constexpr int kRuns = 1;

Status RunPass(const passes::Pass& pass, const passes::Settings& settings, Graph& graph,
               Findings& findings) {
  const passes::Pass* pipeline[] = {&pass};
  auto records = passes::RunPipeline(pipeline, {}, settings, graph, findings);
  // A target without floats refuses remaining float nodes, which is correct.
  if (records || records.error().reason == "FLOAT_NODE") return {};
  return Forward(std::move(records).error());
}

Status CheckNames(const Graph& before, const Graph& after) {
  for (size_t i = 0; i < before.value_bound(); ++i) {
    const ir::Value& value = before.value(ValueId{static_cast<int32_t>(i)});
    if (value.erased || after.Knows(value.name)) continue;
    return Fail(Code::kInternal, "the name '{}' is lost", value.name);
  }
  for (const auto& [name, id] : before.aliases()) {
    if (!after.Knows(name)) return Fail(Code::kInternal, "the alias '{}' is lost", name);
  }
  if (before.inputs().size() != after.inputs().size() ||
      before.outputs().size() != after.outputs().size()) {
    return Fail(Code::kInternal, "the graph's interface has another size");
  }
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    const std::string& name = before.name(before.outputs()[i]);
    if (after.Resolve(name) != after.outputs()[i]) {
      return Fail(Code::kInternal, "output '{}' does not carry its name", name);
    }
  }
  return {};
}

std::string Text(const Graph& graph) { return text::Print(graph, {.old_names = false}); }

// The text without dead nodes, which every pass may drop.
std::string LivingText(Graph graph) {
  graph.EraseDead();
  graph.metadata.clear();  // what a pass notes there for a later job is no rewrite
  return Text(graph);
}

bool Applies(const passes::Pass& pass, std::string_view id) {
  return std::ranges::count(pass.rules, id, &passes::Rule::id) > 0 ||
         std::ranges::count(pass.also_applies, id, &passes::Rule::id) > 0;
}

Status CheckSecondRun(const passes::Pass& pass, const passes::Settings& settings,
                      const Graph& once) {
  // `quantize` plans a float graph as a whole and does not run on a quantized one.
  if (pass.name == "quantize") return {};
  Graph twice = once;
  Findings findings;
  OCTAVO_CHECK(RunPass(pass, settings, twice, findings));
  if (!findings.ledger.empty()) {
    return Fail(Code::kInternal, "a second run applies '{}' at '{}'", findings.ledger.front().rule,
                findings.ledger.front().node);
  }
  if (Text(once) == Text(twice)) return {};
  return Fail(Code::kInternal, "a second run changes the graph:\n{}", Text(twice));
}

// Whether the node computes integers from constants, at least one of them quantized.
bool FollowsFromQuantized(const Graph& graph, const ir::Node& node) {
  bool quantized = false;
  for (const ValueId input : node.inputs) {
    if (!input) continue;
    if (!graph.IsConstant(input)) return false;
    quantized |= graph.type(input).quantized();
  }
  return quantized && std::ranges::none_of(node.results, [&](ValueId result) {
           return ir::IsFloat(graph.type(result).dtype);
         });
}

// merge-constants leaves no such node, unless it says why.
Status CheckFolded(const Graph& graph, const Findings& findings) {
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!FollowsFromQuantized(graph, node)) continue;
    if (std::ranges::count(findings.kept, node.name, &passes::Kept::node) > 0) continue;
    return Fail(Code::kInternal, "{} '{}' of quantized constants has not been folded",
                node.op->name, node.name);
  }
  return {};
}

std::vector<ir::Tensor> InputsAfter(const Graph& before, const Graph& after,
                                    std::vector<ir::Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    // With --integer-io, an input has quantized values.
    const ir::Type& type = after.type(after.inputs()[i]);
    if (type.quantized() && !before.type(before.inputs()[i]).quantized()) {
      inputs[i] = ops::QuantizeTensor(inputs[i], type);
    }
  }
  return inputs;
}

// How quantized ops are read: merge-constants evaluates them, and the bits are the runtime's.
using Run = Result<RunValues> (*)(const Graph& graph, const std::vector<ir::Tensor>& inputs);

Result<RunValues> InIntegers(const Graph& graph, const std::vector<ir::Tensor>& inputs) {
  return RunValues::InIntegers(graph, inputs);
}

Status CheckNumbers(const target::Target& target, const Graph& before, const Graph& after,
                    Effect effect, Movement movement, Run values_of, uint64_t seed) {
  for (int run = 0; run < kRuns; ++run) {
    const std::vector<ir::Tensor> inputs = RandomInputs(before, seed * kRuns + run);
    OCTAVO_TRY(const RunValues was, values_of(before, inputs));
    OCTAVO_TRY(const RunValues is, values_of(after, InputsAfter(before, after, inputs)));
    OCTAVO_CHECK(CheckSigns(target, before, after, is));
    if (effect == Effect::kExact) {
      OCTAVO_CHECK(CheckEqualBits(before, was, after, is, movement));
    } else if (effect == Effect::kRealExact) {
      for (size_t i = 0; i < before.outputs().size(); ++i) {
        const std::vector<double>& old = was.real_values(before.outputs()[i]);
        double largest = 1;
        for (const double x : old) largest = std::max(largest, std::fabs(x));
        const double distance = Distance(old, is.real_values(after.outputs()[i]));
        if (distance <= 1e-4 * largest) continue;
        return Fail(Code::kInternal, "output '{}' moved by {}, but only float rounding may differ",
                    before.name(before.outputs()[i]), distance);
      }
    } else if (effect == Effect::kFewerRoundings) {
      OCTAVO_CHECK(CheckBounds(before, was, after, is, movement));
    }
  }
  return {};
}

// The weakest applied effect.  Choosing a bias's scale is recorded as new-parameters, but is a
// rounding.
Effect EffectOf(const passes::Pass& pass, const Findings& findings) {
  Effect effect = Effect::kExact;
  for (const passes::LedgerEntry& entry : findings.ledger) effect = std::max(effect, entry.effect);
  return pass.name == "specialize-bias" && effect == Effect::kNewParameters
             ? Effect::kFewerRoundings
             : effect;
}

}  // namespace

Status CheckPass(const passes::Pass& pass, const passes::Settings& settings, uint64_t seed,
                 Graph& graph) {
  const Graph before = graph;
  Findings findings;
  OCTAVO_CHECK(RunPass(pass, settings, graph, findings));
  OCTAVO_CHECK(CheckNames(before, graph));
  for (const passes::LedgerEntry& entry : findings.ledger) {
    if (!Applies(pass, entry.rule)) {
      return Fail(Code::kInternal, "the ledger has a rule '{}', which pass {} does not list",
                  entry.rule, pass.name);
    }
  }
  if (pass.name == "merge-constants") OCTAVO_CHECK(CheckFolded(graph, findings));
  const bool changed = Text(before) != Text(graph);
  if (findings.ledger.empty() && LivingText(before) != LivingText(graph)) {
    return Fail(Code::kInternal, "the graph has changed, but the ledger is empty:\n{}",
                Text(graph));
  }
  OCTAVO_CHECK(CheckSecondRun(pass, settings, graph));
  if (!changed) return {};
  const Movement movement =
      pass.name == "place-rescales" ? Movement::kMayStandBeyondARescale : Movement::kGivesTheSame;
  const Run values_of = pass.name == "merge-constants" ? &InIntegers : &RunValues::Of;
  return CheckNumbers(settings.target, before, graph, EffectOf(pass, findings), movement, values_of,
                      seed);
}

}  // namespace octavo::test
