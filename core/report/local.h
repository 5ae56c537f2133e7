// Every node that computes codes, run alone in integers on the float graph's values: what each
// adds to the noise by itself.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/ir/numerics.h"
#include "core/report/metrics.h"
#include "core/runtime/plan.h"

namespace octavo::report {

class LocalRuns {
 public:
  static Result<LocalRuns> Create(const ir::Graph& float_graph, const ir::Graph& quantized,
                                  const std::string& numerics, ThreadPool& pool);

  // Gives the float graph's tensor of a value of that graph, or null.
  using RealOf = std::function<const ir::Tensor*(ir::ValueId)>;
  Status Add(const RealOf& real, ThreadPool& pool, const StopToken& stop);
  // The local SQNR of a value of the quantized graph; empty where its node was not run alone.
  std::optional<double> SqnrOf(ir::ValueId value) const;

 private:
  struct One;
  ir::Numerics mode_ = ir::Numerics::kOnnx;
  std::vector<std::shared_ptr<One>> runs_;
};

}  // namespace octavo::report
