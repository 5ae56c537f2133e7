// SPDX-License-Identifier: Apache-2.0
// Executes a graph by the definitions of its ops: float ops in float32 with one accumulation order
// per output, quantized ops by dequantize, op, quantize.  Calibration and the baseline of reports
// use it, so results have equal bits on every machine and for any number of threads.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/graph.h"

namespace octavo::float_exec {

// Called once per computed value, in topological order.  Keeping a copy of the tensor prevents the
// reuse of its memory.
using Watcher = std::function<void(ir::ValueId, const ir::Tensor&)>;

// Packs weights and plans memory once, for many runs.  The graph must outlive the session and must
// not change.  A session executes one Run at a time.
class Session {
 public:
  // `given` lists values that the caller supplies to every run in place of the nodes that compute
  // them; each must be the only result of its node.
  static Result<Session> Create(const ir::Graph& graph, std::span<const ir::ValueId> given = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // `inputs` are in the graph's order and must have exactly its types; kInvalidArgument names the
  // input that differs.  Run frees values after their last use.
  Result<std::vector<ir::Tensor>> Run(const std::vector<ir::Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop = {}, const Watcher& watch = {});

  // As Run, but node by node, for a caller that may stop early: call Start, then Advance until
  // done(). `given` has a tensor per value that the caller supplies.
  Status Start(const std::vector<ir::Tensor>& inputs, std::span<const ir::Tensor> given = {});
  bool done() const;
  Status Advance(ThreadPool& pool, const StopToken& stop, const Watcher& watch);

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Evaluates one node by its definition on float inputs (null for absent ones), for constant folding
// and comparisons per node.  Result types are those that the op infers.
Result<std::vector<ir::Tensor>> Evaluate(const ir::Node& node,
                                         const std::vector<const ir::Tensor*>& inputs,
                                         const std::vector<ir::Type>& result_types,
                                         ThreadPool& pool);

}  // namespace octavo::float_exec
