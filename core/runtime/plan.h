// SPDX-License-Identifier: Apache-2.0
// Executes a quantized (or float) graph: kernels are chosen, weights packed and memory planned
// once, then the plan runs many times.  Results are the numerics mode's definition of each op, bit
// for bit, on every machine and for any thread count.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/numerics/mode_table.h"
#include "core/runtime/execution.h"

namespace octavo::runtime {

// Called for every computed value in the order of computation, in the graph's layout, as stored
// integers where it is quantized.  The tensor is valid during the call.
using Watcher = std::function<void(ir::ValueId, const ir::Tensor&)>;

struct PlanOptions {
  const numerics::Mode* numerics = &numerics::kOnnx;
  bool keep_all_values = false;  // for a watcher of every value: nothing is fused
};

// The graph must outlive the plan and not change.  Run is thread safe: each call has its own
// workspace.
class Plan {
 public:
  // kUnimplemented names a node that no kernel can run in this mode.
  static Result<Plan> Create(const ir::Graph& graph, const PlanOptions& options, ThreadPool& pool);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  // Inputs in the graph's order and of exactly its types; stored integers for quantized inputs.
  Result<std::vector<ir::Tensor>> Run(const std::vector<ir::Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop = {}, const Watcher& watch = {},
                                      std::vector<StepProfile>* profile = nullptr) const;
  // The same for a caller that acts between the steps.
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
