// SPDX-License-Identifier: Apache-2.0
// Executes a quantized or float graph.  Create selects kernels, packs weights and plans memory
// once; the plan then runs many times.  Results equal the numerics mode's definition of each op,
// bit for bit, on every machine and for any number of threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/numerics/mode_table.h"
#include "core/runtime/execution.h"

namespace octavo::runtime {

// Called for every computed value in the order of computation, in the graph's layout; a quantized
// value holds stored integers.  The tensor is valid during the call.
using Watcher = std::function<void(ir::ValueId, const ir::Tensor&)>;

struct PlanOptions {
  const numerics::Mode* numerics = &numerics::kOnnx;
  bool keep_all_values = false;  // for a watcher of every value: disables fusion
};

// The graph must outlive the plan and must not change.  Run is thread-safe: each call has its own
// workspace.
class Plan {
 public:
  // kUnimplemented names a node that no kernel can run in this mode.
  static Result<Plan> Create(const ir::Graph& graph, const PlanOptions& options, ThreadPool& pool);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  // Inputs are in the graph's order and must have exactly its types; quantized inputs are stored
  // integers.
  Result<std::vector<ir::Tensor>> Run(const std::vector<ir::Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop = {}, const Watcher& watch = {},
                                      std::vector<StepProfile>* profile = nullptr) const;
  // As Run, for a caller that acts between the steps.
  Result<Execution> Begin(const std::vector<ir::Tensor>& inputs, ThreadPool& pool,
                          std::vector<StepProfile>* profile = nullptr) const;
  // Bytes of one run's workspace.
  int64_t workspace_bytes() const;

 private:
  struct State;
  explicit Plan(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace octavo::runtime
