// Removes Rescales by merging them into their neighbours; the laws are in absorb.cc.
#include "core/passes/absorb.h"
#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

Status Run(ir::Graph& graph, Context& context) {
  AbsorbRescales(graph, context);
  return {};
}

}  // namespace

const Pass kAbsorbRescalesPass = {
    .name = "absorb-rescales",
    .promise = "no Rescale stands beside an op that can take it, within the limit",
    .rules = AbsorbRules(),
    .run = &Run,
};

}  // namespace octavo::passes
