// Every node that computes codes, run alone in integers on the float graph's values: what each
// adds to the noise by itself.  That is one more run of the whole plan in which the codes of the
// float graph's values take the place of what was computed, once it has been compared.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "core/ir/numerics.h"
#include "core/reference/buffers.h"
#include "core/report/metrics.h"
#include "core/runtime/plan.h"

namespace octavo::report {

class LocalRuns {
 public:
  LocalRuns(const ir::Graph& float_graph, const ir::Graph& quantized, ir::Numerics mode);

  // The float graph's value that Step wants for a computed value; none where it wants none.
  ir::ValueId ReferenceOf(ir::ValueId value) const;

  // Gives the float graph's tensor of a value of that graph, or null.
  using RealOf = std::function<const ir::Tensor*(ir::ValueId)>;
  // The next step of a run of its own over a sample.
  Status Step(runtime::Execution& run, const RealOf& real, ThreadPool& pool, const StopToken& stop);

  // The local SQNR of a value of the quantized graph; empty where its node was not run alone.
  std::optional<double> SqnrOf(ir::ValueId value) const;

 private:
  // A computed value that the float graph has too.
  struct Shared {
    ir::ValueId reference = {};
    bool compared = false;
    double signal = 0, noise = 0;
  };
  void Find(const ir::Graph& float_graph);
  bool RunsAlone(const ir::Node& node) const;
  ir::Tensor Codes(const ir::Tensor& real, const ir::Type& type, ThreadPool& pool);

  const ir::Graph& quantized_;
  ir::Numerics mode_;
  std::unordered_map<ir::ValueId, Shared> shared_;
  reference::Buffers buffers_;
};

}  // namespace octavo::report
