// Executes a quantized (or float) graph fast: kernels are chosen, weights packed and memory laid
// out once, then the plan runs many times.  Results have equal bits on every machine and for any
// thread count: the numerics mode's definition of each op.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/execution.h"

namespace octavo::runtime {

// Called for every computed value in the order of computation, in the graph's own layout and with
// codes as stored; valid during the call.
using Watcher = std::function<void(ir::ValueId, const ir::Tensor&)>;

struct PlanOptions {
  std::string numerics = "onnx";
  bool keep_all_values = false;  // a watcher will want every value: no fusion across values
};

// The graph must outlive the plan and not change.  Run may be called from several threads at
// once: each call has a workspace of its own.
class Plan {
 public:
  // kUnimplemented names a node that no kernel can run in this mode.
  static Result<Plan> Create(const ir::Graph& graph, const PlanOptions& options, ThreadPool& pool);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  // Inputs in the graph's order with exactly its types; codes for quantized inputs.
  Result<std::vector<ir::Tensor>> Run(const std::vector<ir::Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop = {}, const Watcher& watch = {},
                                      std::vector<StepProfile>* profile = nullptr) const;
  // The same for a caller that does something between the steps.
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
