// SPDX-License-Identifier: Apache-2.0
// Removes Rescales by folding them into their neighbours.  The rules are in absorb.cc, that for
// equal nodes in common_subexpressions.h, that of --leave-integers in leave_integers.h.
#include <algorithm>
#include <array>

#include "core/passes/passes.h"
#include "core/passes/rescale/absorb.h"
#include "core/passes/rescale/absorb_rules.h"
#include "core/passes/rescale/leave_integers.h"

namespace octavo::passes {
namespace {

Status Run(ir::Graph& graph, Context& context) {
  // Absorbing Rescales can make nodes identical; eliminating the duplicates first leaves fewer
  // consumers to check.
  for (int64_t before = -1; before != context.applications();) {
    before = context.applications();
    OCTAVO_CHECK(EliminateCommonSubexpressions(graph, context, absorb_rules::kCse));
    AbsorbRescales(graph, context);
    if (context.settings().options.leave_integers) OCTAVO_CHECK(LeaveIntegers(graph, context));
    OCTAVO_CHECK(context.settings().stop.Check());
  }
  return {};
}

constexpr auto kRules = [] {
  constexpr size_t shared = std::size(absorb_rules::kAbsorbRules);
  std::array<Rule, shared + 2> all = {};
  std::copy_n(absorb_rules::kAbsorbRules, shared, all.begin());
  all[shared] = absorb_rules::kCse;
  all[shared + 1] = absorb_rules::kCancelQuantizeDequantize;
  return all;
}();

}  // namespace

const Pass kAbsorbRescalesPass = {
    .name = "absorb-rescales",
    .phase = Phase::kOptimize,
    .postcondition = "no Rescale can be folded into its producer or its consumers within the limit",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
