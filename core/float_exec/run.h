// SPDX-License-Identifier: Apache-2.0
// Executes a graph by the definitions of its ops: float ops in float32 with one accumulation order
// per output, quantized ops by dequantize, op, quantize.  Calibration and the baseline of reports
// run here, so results have equal bits on every machine and for any number of threads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/graph.h"

namespace octavo::float_exec {

// Called once per computed value, in topological order.  A copy of the tensor keeps its memory from
// being reused.
using Watcher = std::function<void(ir::ValueId, const ir::Tensor&)>;

// Packs weights and plans memory once; runs many times.  The graph must outlive the session and
// not change.  One Run at a time per session.
class Session {
 public:
  // `given`: values that the caller supplies to every run instead of the node that computes them;
  // each is the only result of its node.
  static Result<Session> Create(const ir::Graph& graph, std::span<const ir::ValueId> given = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // `inputs` in the graph's order, with exactly its types (kInvalidArgument names the input that
  // differs).  Values are freed after their last use.
  Result<std::vector<ir::Tensor>> Run(const std::vector<ir::Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop = {}, const Watcher& watch = {});

  // The same node by node, for a caller that may stop early: Start, then Advance until done().
  // Inputs as for Run; `given` has a tensor for each value that the caller supplies.
  Status Start(const std::vector<ir::Tensor>& inputs, std::span<const ir::Tensor> given = {});
  bool done() const;
  Status Advance(ThreadPool& pool, const StopToken& stop, const Watcher& watch);

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One node on float inputs (null for absent ones), by its definition; for constant folding and
// per-node comparisons.  Result types are those that the op infers.
Result<std::vector<ir::Tensor>> Evaluate(const ir::Node& node,
                                         const std::vector<const ir::Tensor*>& inputs,
                                         const std::vector<ir::Type>& result_types,
                                         ThreadPool& pool);

}  // namespace octavo::float_exec
