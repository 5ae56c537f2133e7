// SPDX-License-Identifier: Apache-2.0
// Places Rescales such that the fewest elements are converted.  Applying sink and hoist one by one
// up to a fixpoint could end in a local optimum; instead, placement/solve.h finds the least total,
// and this pass changes the graph accordingly.  Then the rules of absorb_rules.h fold Rescales that
// have become adjacent to producers or consumers, and shared parameters remove some of the
// remaining ones (align_parameters.h).
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "core/passes/analysis/evaluated_values.h"
#include "core/passes/passes.h"
#include "core/passes/placement/graph_region.h"
#include "core/passes/rescale/absorb.h"
#include "core/passes/rescale/absorb_rules.h"
#include "core/passes/rescale/align_parameters.h"
#include "core/passes/rescale/greedy_placement.h"
#include "core/passes/rescale/per_channel_placement.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::NodeId;

constexpr Rule kHoist = {
    .id = "place-rescales/hoist",
    .pattern = "Rescale(Move(x, ..))",
    .replacement = "Move(Rescale(x), ..)",
    .effect = Effect::kExact,
    .condition =
        "all consumers of Move need the same Rescale; the placement converts fewer elements",
};

constexpr Rule kCse = {
    .id = "place-rescales/cse",
    .pattern = "Rescale(x) : t, Rescale(x) : t",
    .replacement = "one Rescale(x) : t",
    .effect = Effect::kExact,
};

// Merging may leave Rescales that can move further; each round but the last reduces the total.
constexpr int kMaxRounds = 4;

constexpr Rule kRules[] = {kSink,
                           kHoist,
                           kCse,
                           kSinkPerChannel,
                           kHoistPerChannel,
                           kUnifyParameters,
                           kUnifyParametersWithoutProfile};

// Without the Rescales that merge-constants evaluates.
RescaleTotal TotalOf(const Graph& graph) {
  RescaleTotal total;
  const std::vector<bool> evaluated = EvaluatedValues(graph);
  for (const NodeId id : graph.nodes()) {
    if (!IsRescale(graph.node(id)) || evaluated[graph.node(id).inputs[0].index]) continue;
    ++total.count;
    total.elements += graph.type(graph.node(id).result()).elements();
  }
  return total;
}

// Warns of each part that is too large to be solved exactly; names the first op in it that can
// move.
void WarnOfInexactParts(const Graph& graph, const placement::GraphRegion& region,
                        const placement::Solution& solution, Context& context) {
  for (const placement::Part& part : solution.parts) {
    if (IsExact(part.method)) continue;
    const auto mover =
        std::ranges::find_if(part.sites, [&](int site) { return bool{region.movers[site]}; });
    const std::string_view node =
        mover == part.sites.end() ? "" : std::string_view(graph.node(region.movers[*mover]).name);
    context.Warn("placement_not_exact",
                 fmt::format("the region of {} ops and boundary values around '{}' exceeds the "
                             "exact solver's limit; using the best heuristic placement",
                             part.sites.size(), node),
                 node);
  }
}

// One round.  False if the current placement is already as good.  Copies the graph to `original`
// before changing it, if `original` is given and still empty.
Result<bool> Place(Graph& graph, Context& context, std::optional<Graph>* original) {
  const placement::GraphRegion region = placement::RegionOf(graph);
  const auto none = [](const auto& rescales) { return rescales.empty(); };
  if (std::ranges::all_of(region.rescales, none)) return false;
  const placement::Built built = placement::BuildProblem(
      region.region, placement::AllowedMovesOf(graph, context.settings(), region));
  const placement::Solution solution = placement::Solve(built.problem);
  WarnOfInexactParts(graph, region, solution, context);
  const bool changes =
      std::ranges::count(solution.positions, 0) != std::ssize(solution.positions) ||
      std::ranges::any_of(region.rescales, placement::HasDuplicates);
  if (!changes) return false;
  if (original && !*original) *original = graph;
  for (size_t i = 0; i < region.values.size(); ++i) {
    if (!placement::HasDuplicates(region.rescales[i])) continue;
    const std::string& value = graph.name(region.values[i]);
    context.Applied(kCse, graph.node(region.rescales[i].front().node).name, {value});
  }
  OCTAVO_TRY(const std::vector<placement::Move> moves,
             placement::Write(graph, region, built, solution.positions));
  for (const placement::Move& move : moves) {
    const ir::Node& node = graph.node(move.node);
    for (int step = 0; step < std::abs(move.position); ++step) {
      context.Applied(move.position < 0 ? kSink : kHoist, node.name, {graph.name(node.result())});
    }
  }
  AbsorbRescales(graph, context);
  return true;
}

Status PlaceBest(Graph& graph, Context& context, std::optional<Graph>* original = nullptr) {
  for (int round = 0; round < kMaxRounds; ++round) {
    OCTAVO_CHECK(context.settings().stop.Check());
    OCTAVO_TRY(const bool changed, Place(graph, context, original));
    if (!changed) break;
  }
  return {};
}

// The total that would remain after single moves.  Copies the graph only if a move applies.
Result<RescaleTotal> TotalAfterGreedy(const Graph& graph, const RescaleTotal& total,
                                      const Context& context) {
  if (!SinksGreedily(graph, context.settings())) return total;
  Graph copy = graph;
  Findings scratch;
  Context scratch_context(context.settings(), scratch, "place-rescales");
  OCTAVO_CHECK(PlaceGreedily(copy, scratch_context));
  return TotalOf(copy);
}

// Alternates single moves and the joint placement until neither reduces the total.
Status Settle(Graph& graph, Context& context) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const RescaleTotal total = TotalOf(graph);
    OCTAVO_TRY(const RescaleTotal greedy, TotalAfterGreedy(graph, total, context));
    if (!(greedy < total)) break;
    OCTAVO_CHECK(PlaceGreedily(graph, context));
    OCTAVO_CHECK(PlaceBest(graph, context));
  }
  return {};
}

bool HasChannels(const Graph& graph) {
  const auto per_channel = [&](ir::ValueId id) { return !graph.type(id).quant->per_tensor(); };
  for (const NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (IsRescale(node) && (per_channel(node.inputs[0]) || per_channel(node.result()))) return true;
  }
  return false;
}

// Moves the per-channel Rescales, which the joint placement skips, as long as this reduces the
// total.
Status MoveChannels(Graph& graph, Context& context) {
  for (int round = 0; round < kMaxRounds && HasChannels(graph); ++round) {
    Graph copy = graph;
    Findings scratch;
    Context scratch_context(context.settings(), scratch, "place-rescales");
    OCTAVO_CHECK(MoveChannelRescales(copy, scratch_context));
    if (!(TotalOf(copy) < TotalOf(graph))) {
      // Keeps the reasons for the Rescales that stay.
      std::ranges::move(scratch.kept, std::back_inserter(context.findings().kept));
      break;
    }
    OCTAVO_CHECK(MoveChannelRescales(graph, context));
    OCTAVO_CHECK(PlaceBest(graph, context));
    OCTAVO_CHECK(Settle(graph, context));
  }
  return {};
}

Status Run(Graph& graph, Context& context) {
  PlacementFigures& figures = context.findings().placement;
  figures.before = TotalOf(graph);
  figures.greedy = figures.after = figures.before;
  if (figures.before.count == 0) return {};
  OCTAVO_TRY(figures.greedy, TotalAfterGreedy(graph, figures.before, context));

  Findings& findings = context.findings();
  const size_t entries = findings.ledger.size(), kept = findings.kept.size();
  std::optional<Graph> original;
  OCTAVO_CHECK(PlaceBest(graph, context, &original));
  const bool placed = original.has_value();
  if (placed && figures.greedy < TotalOf(graph)) {
    // Single moves were better: their merges can open paths that the original graph lacks.
    graph = *std::move(original);
    findings.ledger.resize(entries);
    findings.kept.resize(kept);
  }
  const bool untouched = !placed && !(figures.greedy < figures.before);
  if (!untouched) OCTAVO_CHECK(Settle(graph, context));
  OCTAVO_CHECK(MoveChannels(graph, context));
  OCTAVO_TRY(const bool aligned, AlignParameters(graph, context));
  if (aligned) {
    OCTAVO_CHECK(PlaceBest(graph, context));
    OCTAVO_CHECK(Settle(graph, context));
    // Folding may have left a per-channel Rescale with one consumer.
    OCTAVO_CHECK(MoveChannels(graph, context));
  }
  figures.after = TotalOf(graph);
  return {};
}

}  // namespace

const Pass kPlaceRescalesPass = {
    .name = "place-rescales",
    .phase = Phase::kOptimize,
    .postcondition = "no placement of the Rescales along their paths converts fewer elements",
    .rules = kRules,
    .also_applies = absorb_rules::kAbsorbRules,
    .run = &Run,
};

}  // namespace octavo::passes
