// Runs a float graph and its quantized form on the same samples and compares every value they
// share: accumulated (each graph on its own results) and local (one node in integers on the float
// graph's values).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/graph.h"
#include "core/ir/numerics.h"
#include "core/reference/kept_values.h"
#include "core/report/metrics.h"
#include "core/runtime/plan.h"

namespace octavo::report {

struct ValueReport {
  std::string name = {};
  Figures figures = {};
  std::optional<double> local_sqnr_db = {};
  ir::Type type = {};  // of the compared codes, or f32
};

struct DiffOptions {
  std::string numerics = "onnx";
  std::function<void(int64_t done, int64_t total)> progress = {};
  // Of the float graph over the same batches, so as not to compute them again; may be null.
  const reference::KeptValues* kept = nullptr;
};

struct DiffResult {
  std::vector<ValueReport> values = {};          // in the float graph's order
  std::vector<ValueReport> outputs = {};         // in the order of the graph's outputs
  std::vector<runtime::StepProfile> steps = {};  // of the integer runs, summed by node
};

// Each batch holds one tensor per graph input.  Inputs of the two graphs agree but for
// quantization (an integer input takes the quantized sample).
Result<DiffResult> Diff(const ir::Graph& float_graph, const ir::Graph& quantized,
                        const std::vector<std::vector<ir::Tensor>>& batches,
                        const DiffOptions& options, ThreadPool& pool, const StopToken& stop);

}  // namespace octavo::report
