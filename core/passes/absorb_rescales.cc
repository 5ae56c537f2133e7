// Removes Rescales by merging them into their neighbours; the laws are in absorb.cc, that of equal
// nodes in equal_nodes.h, and that of --leave-integers in leave_integers.h.
#include <vector>

#include "core/passes/absorb.h"
#include "core/passes/equal_nodes.h"
#include "core/passes/leave_integers.h"
#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

Status Run(ir::Graph& graph, Context& context) {
  // What is absorbed may leave nodes alike, and one of two alike has fewer readers to ask.
  for (int64_t before = -1; before != context.applications();) {
    before = context.applications();
    OCTAVO_CHECK(MergeEqualNodes(graph, context));
    AbsorbRescales(graph, context);
    if (context.settings().leave_integers) OCTAVO_CHECK(LeaveIntegers(graph, context));
    OCTAVO_CHECK(context.settings().stop.Check());
  }
  return {};
}

std::span<const Rule> Rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all(AbsorbRules().begin(), AbsorbRules().end());
    all.push_back(kEqualNodes);
    all.push_back(kLeftIntegers);
    return all;
  }();
  return rules;
}

}  // namespace

const Pass kAbsorbRescalesPass = {
    .name = "absorb-rescales",
    .promise = "no Rescale stands beside an op that can take it, within the limit",
    .rules = Rules(),
    .run = &Run,
};

}  // namespace octavo::passes
