// SPDX-License-Identifier: Apache-2.0
// Runs a float graph and its quantized form on the same samples and compares every value that both
// compute: accumulated (each graph on its own intermediate results) and local (one node in integers
// on the float graph's values).
#pragma once

#include <functional>
#include <vector>

#include "core/base/stop_token.h"
#include "core/float_exec/kept_values.h"
#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/report/metrics.h"
#include "core/runtime/plan.h"

namespace octavo::report {

struct DiffOptions {
  const numerics::Mode* numerics = &numerics::kOnnx;
  std::function<void(int64_t done, int64_t total)> progress = {};
  // Values of the float graph over the same batches that need not be recomputed; may be null.
  const float_exec::KeptValues* kept = nullptr;
};

struct DiffResult {
  std::vector<v1::ValueNumerics> values = {};    // in the float graph's order
  std::vector<v1::ValueNumerics> outputs = {};   // in the order of the graph's outputs
  int64_t saturated = 0;                         // elements of all values, see ValueStats
  std::vector<runtime::StepProfile> steps = {};  // of the integer runs, summed per node
};

// Each batch has one tensor per graph input.  The inputs of the two graphs differ only in
// quantization: the samples of an integer input are quantized.
Result<DiffResult> Diff(const ir::Graph& float_graph, const ir::Graph& quantized,
                        const std::vector<std::vector<ir::Tensor>>& batches,
                        const DiffOptions& options, ThreadPool& pool, const StopToken& stop);

}  // namespace octavo::report
