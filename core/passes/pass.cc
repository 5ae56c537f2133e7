// SPDX-License-Identifier: Apache-2.0
#include "core/passes/pass.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/base/glob.h"
#include "core/base/nearest_name.h"
#include "core/ir/verify.h"

namespace octavo::passes {
namespace {

// Without these passes, the result would not be a quantized model.
constexpr std::array<std::string_view, 2> kNeverSkipped = {"quantize", "merge-constants"};

Status CheckName(std::string_view field, std::string_view name) {
  if (FindPass(name)) return {};
  std::vector<std::string_view> names;
  for (const Pass* pass : AllPasses()) names.push_back(pass->name);
  return Fail(Code::kUsage, "unknown pass '{}'; passes are {}{}", name, fmt::join(names, ", "),
              DidYouMean(name, names))
      .Field(field);
}

// Skips a graph that the pass did not change: it is still marked as verified.
Status VerifyAfter(const Pass& pass, ir::Graph& graph) {
  if (graph.verified()) return {};
  if (const Status verified = ir::Verify(graph); !verified) {
    return Fail(Code::kInternal, "pass '{}' broke an invariant: {}", pass.name,
                verified.error().message)
        .Node(verified.error().node);
  }
  graph.SetVerified();
  return {};
}

// `names` may be patterns.
bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](const auto& each) { return MatchesGlob(each, name); });
}

// A name, or a pattern that matches one.
Status CheckPattern(std::string_view field, std::string_view pattern) {
  const auto matches = [&](const Pass* pass) { return MatchesGlob(pattern, pass->name); };
  return std::ranges::any_of(AllPasses(), matches) ? Status() : CheckName(field, pattern);
}

bool CanBeSkipped(const Pass& pass) {
  return pass.phase != Phase::kImport &&
         std::ranges::find(kNeverSkipped, pass.name) == kNeverSkipped.end();
}

}  // namespace

std::string_view Name(Effect effect) {
  switch (effect) {
    case Effect::kExact:
      return "exact";
    case Effect::kRealExact:
      return "real-exact";
    case Effect::kNewArithmetic:
      return "new-arithmetic";
    case Effect::kFewerRoundings:
      return "fewer-roundings";
    case Effect::kFewerClamps:
      return "fewer-clamps";
    case Effect::kNewParameters:
      return "new-parameters";
  }
  return "";
}

bool Context::Allows(Effect effect) const { return effect <= settings_.limit; }

void Context::Applied(const Rule& rule, std::string_view node, std::vector<std::string> values) {
  Applied(rule, rule.effect, node, std::move(values));
}

void Context::Applied(const Rule& rule, Effect effect, std::string_view node,
                      std::vector<std::string> values) {
  ++applications_;
  findings_.ledger.push_back({.pass = std::string(pass_),
                              .rule = std::string(rule.id),
                              .effect = effect,
                              .node = std::string(node),
                              .values = std::move(values)});
}

void Context::Keep(std::string_view node, std::string reason) {
  findings_.kept.push_back(
      {.pass = std::string(pass_), .node = std::string(node), .reason = std::move(reason)});
}

void Context::KeepFloat(std::string_view node, std::string reason) {
  findings_.float_reasons.insert_or_assign(std::string(node), std::move(reason));
}

void Context::Warn(ir::WarningCode code, std::string message, std::string_view node) {
  findings_.warnings.push_back(
      {.code = code, .message = std::move(message), .node = std::string(node)});
}

Status CheckRunOptions(const RunOptions& options) {
  if (!options.stop_before.empty()) OCTAVO_CHECK(CheckName("stop_before", options.stop_before));
  for (const std::string& name : options.only) OCTAVO_CHECK(CheckPattern("passes", name));
  for (const std::string& name : options.skip) {
    OCTAVO_CHECK(CheckPattern("skip", name));
    for (const Pass* pass : AllPasses()) {
      if (CanBeSkipped(*pass) || !MatchesGlob(name, pass->name)) continue;
      return Fail(Code::kUsage, "pass '{}' cannot be skipped", pass->name).Field("skip");
    }
  }
  return {};
}

Result<std::vector<PassRecord>> RunPipeline(std::span<const Pass* const> pipeline,
                                            const RunOptions& options, const Settings& settings,
                                            ir::Graph& graph, Findings& findings) {
  OCTAVO_CHECK(CheckRunOptions(options));
  std::vector<PassRecord> records;
  for (const Pass* pass : pipeline) {
    if (pass->name == options.stop_before) break;
    const bool chosen =
        options.only.empty() || pass->phase == Phase::kImport || Contains(options.only, pass->name);
    if (!chosen) continue;
    if (Contains(options.skip, pass->name)) continue;
    OCTAVO_CHECK(settings.stop.Check());
    const auto start = std::chrono::steady_clock::now();
    Context context(settings, findings, pass->name);
    OCTAVO_CHECK(pass->run(graph, context));
    OCTAVO_CHECK(VerifyAfter(*pass, graph));
    context.Checkpoint(graph);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    records.push_back({.name = std::string(pass->name),
                       .seconds = spent.count(),
                       .changed = context.applications(),
                       .nodes_after = graph.node_count()});
    if (options.after_pass) options.after_pass(records.back(), graph);
  }
  return records;
}

}  // namespace octavo::passes
