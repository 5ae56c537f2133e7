// SPDX-License-Identifier: Apache-2.0
// Computes the local SQNR of every quantized node: the node runs in integers on the quantized
// values of the float graph.  This takes one additional run of the whole plan.  In this run, each
// computed value is compared and then replaced by the quantized value of the float graph.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "core/float_exec/buffers.h"
#include "core/numerics/mode.h"
#include "core/report/metrics.h"
#include "core/report/useful_part.h"
#include "core/runtime/plan.h"

namespace octavo::report {

class LocalRuns {
 public:
  LocalRuns(const ir::Graph& float_graph, const ir::Graph& quantized, const numerics::Mode& mode);

  // The value of the float graph that Step needs for a computed value; invalid if none.
  ir::ValueId BaselineFor(ir::ValueId value) const;

  // Returns the tensor of a value of the float graph, or null.
  using FloatTensorOf = std::function<const ir::Tensor*(ir::ValueId)>;
  // Executes the next step of `run`, the additional run for one sample.
  Status Step(runtime::Execution& run, const FloatTensorOf& float_tensor, ThreadPool& pool,
              const StopToken& stop);

  // The local SQNR of a value of the quantized graph; empty if its node was not compared.
  std::optional<double> SqnrOf(ir::ValueId value) const;

 private:
  // A computed value that has a counterpart in the float graph.
  struct Shared {
    ir::ValueId baseline = {};
    bool compared = false;
    double signal = 0, noise = 0;
    std::optional<UsefulPart> useful = {};
  };
  void Find(const ir::Graph& float_graph);
  bool RunsAlone(const ir::Node& node) const;
  ir::Tensor Quantize(const ir::Tensor& values, const ir::Type& type, ThreadPool& pool);

  const ir::Graph& quantized_;
  const numerics::Mode& mode_;
  std::unordered_map<ir::ValueId, Shared> shared_;
  float_exec::Buffers buffers_;
};

}  // namespace octavo::report
