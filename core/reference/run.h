// Executes a graph by the ops' own definitions: float ops in float with fixed bits (arithmetic:
// one accumulation order per output), quantized ops by dequantize, op, quantize.  Everything that
// decides a scale or fills a report runs here, so results have equal bits on every machine and
// for any thread count.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/graph.h"

namespace octavo::reference {

// Called once per value in topological order of its computation, inputs and constants excluded;
// who keeps a copy of the tensor keeps its memory from being used again.
using Watcher = std::function<void(ir::ValueId, const ir::Tensor&)>;

// Packs weights and plans memory once; runs many times.  The graph must outlive the session and
// not change.  One Run at a time per session.
class Session {
 public:
  // `given`: values that every run is given instead of computing them, each the only result of a
  // node.
  static Result<Session> Create(const ir::Graph& graph, std::span<const ir::ValueId> given = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // `inputs` in the graph's order, with exactly its types (kInvalidArgument names the input that
  // differs).  Values are freed after their last reader.
  Result<std::vector<ir::Tensor>> Run(const std::vector<ir::Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop = {}, const Watcher& watch = {});

  // The same for a caller that wants values one after another and perhaps not all of them: Start,
  // then Advance, a node at a time, until all are done.  Inputs as for Run; `given` has a tensor
  // for each value that is given.
  Status Start(const std::vector<ir::Tensor>& inputs, std::span<const ir::Tensor> given = {});
  bool done() const;
  Status Advance(ThreadPool& pool, const StopToken& stop, const Watcher& watch);

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One node on expressed inputs (null for absent ones), by its definition; for constant folding
// and local comparisons.  Result types are those that the op infers.
Result<std::vector<ir::Tensor>> Evaluate(const ir::Node& node,
                                         const std::vector<const ir::Tensor*>& inputs,
                                         const std::vector<ir::Type>& result_types,
                                         ThreadPool& pool);

}  // namespace octavo::reference
