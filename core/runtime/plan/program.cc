// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/program.h"

#include "core/runtime/plan/emit.h"
#include "core/runtime/plan/fold_constants.h"
#include "core/runtime/plan/group.h"
#include "core/runtime/plan/layouts.h"
#include "core/runtime/plan/memory_plan.h"
#include "core/runtime/plan/unsigned_activations.h"

namespace octavo::runtime {
namespace {

// The graph with i8 activations stored as u8; null if it has none or if all values are kept.
std::shared_ptr<const ir::Graph> StoreUnsigned(const ir::Graph& graph,
                                               const ProgramOptions& options) {
  if (!options.fuses || !options.numerics->qlinear) return nullptr;
  const std::vector<ir::ValueId> activations = SignedActivationsOf(graph);
  if (activations.empty()) return nullptr;
  auto own = std::make_shared<ir::Graph>(graph);
  StoreAsUnsigned(activations, *own);
  return own;
}

}  // namespace

Result<Program> BuildProgram(const ir::Graph& graph, const ProgramOptions& options,
                             ThreadPool& pool) {
  const std::shared_ptr<const ir::Graph> own = StoreUnsigned(graph, options);
  const ir::Graph& planned = own ? *own : graph;
  OCTAVO_TRY(const FixedValues constants, FoldConstants(planned, *options.numerics, pool));
  OCTAVO_TRY(const Grouping grouping, GroupNodes(planned, constants, options, pool));
  const Schedule schedule = ChooseLayouts(planned, constants, grouping);
  OCTAVO_TRY(Program program,
             EmitProgram(planned, constants, grouping, schedule, *options.numerics, pool));
  AssignOffsets(program);
  program.own = own;
  return program;
}

}  // namespace octavo::runtime
