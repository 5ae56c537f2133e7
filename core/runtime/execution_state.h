// SPDX-License-Identifier: Apache-2.0
// The state of a run without its plan; internal to execution.cc and plan.cc.
#pragma once

#include <chrono>
#include <optional>

#include "core/runtime/execution.h"
#include "core/runtime/workspace.h"

namespace octavo::runtime {

struct Execution::State {
  using Clock = std::chrono::steady_clock;

  const ir::Graph& graph;
  const Program& program;
  Workspaces& workspaces;
  ThreadPool& pool;
  std::vector<StepProfile>* profile = nullptr;
  std::unique_ptr<Workspace> workspace = workspaces.Take(program);
  size_t at = 0;          // the next step
  ir::Tensor value = {};  // the value that the caller inspects
  std::optional<Clock::time_point> first = {};

  State(const ir::Graph& whole, const Program& of, Workspaces& from, ThreadPool& threads,
        std::vector<StepProfile>* times)
      : graph(whole), program(of), workspaces(from), pool(threads), profile(times) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  // Binds the slots of graph inputs and outputs to tensors.
  Status Bind(const std::vector<ir::Tensor>& inputs);
  Status Compute(const runtime::Step& step);
  Status ComputeTimed(const runtime::Step& step);
  // The slot of a value that the last step computed.
  int SlotOf(ir::ValueId value) const;
};

}  // namespace octavo::runtime
