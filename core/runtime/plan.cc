// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan.h"

#include "core/numerics/mode_table.h"
#include "core/runtime/execution_state.h"

namespace octavo::runtime {

using ir::Tensor;

struct Plan::State {
  const ir::Graph& graph;
  Program program = {};
  Workspaces workspaces = {};
};

Plan::Plan(std::unique_ptr<State> state) : state_(std::move(state)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

int64_t Plan::workspace_bytes() const { return state_->program.workspace_bytes; }

Result<Plan> Plan::Create(const ir::Graph& graph, const PlanOptions& options, ThreadPool& pool) {
  auto state = std::unique_ptr<State>(new State{graph});
  OCTAVO_TRY(
      state->program,
      BuildProgram(graph, {.numerics = options.numerics, .fuses = !options.keep_all_values}, pool));
  return Plan(std::move(state));
}

Result<Execution> Plan::Begin(const std::vector<Tensor>& inputs, ThreadPool& pool,
                              std::vector<StepProfile>* profile) const {
  auto run = std::make_unique<Execution::State>(state_->graph, state_->program, state_->workspaces,
                                                pool, profile);
  OCTAVO_CHECK(run->Bind(inputs));
  return Execution(std::move(run));
}

Result<std::vector<Tensor>> Plan::Run(const std::vector<Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop, const Watcher& watch,
                                      std::vector<StepProfile>* profile) const {
  OCTAVO_TRY(Execution run, Begin(inputs, pool, profile));
  while (!run.done()) {
    std::vector<ir::ValueId> values;
    if (watch) values = run.next();
    OCTAVO_CHECK(run.Step(stop));
    for (const ir::ValueId value : values) watch(value, run.Value(value));
  }
  return run.outputs();
}

}  // namespace octavo::runtime
