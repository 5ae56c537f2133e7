// SPDX-License-Identifier: Apache-2.0
// Runs a float graph and its quantized form on the same samples and compares every value that both
// compute.  The accumulated error lets each graph run on its own intermediate results; the local
// error runs one node in integers on the float graph's values.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/base/stop_token.h"
#include "core/float_exec/kept_values.h"
#include "core/ir/batches.h"
#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/report/drift.h"
#include "core/report/metrics.h"
#include "core/report/nan_inputs.h"
#include "core/runtime/plan.h"

namespace octavo::report {

struct DiffOptions {
  const numerics::Mode* numerics = &numerics::kOnnx;
  std::function<void(int64_t done, int64_t total)> progress = {};
  // Float values over the same batches that Diff need not recompute; may be null.
  const float_exec::KeptValues* kept = nullptr;
  // The classes of the samples, `batch` of which are in each batch; may be null.
  const std::vector<int64_t>* labels = nullptr;
  int64_t batch = 1;
  // The numbers that messages give the samples; null or empty: 0, 1, ..
  const std::vector<int64_t>* numbers = nullptr;
  const CalibratedRanges* calibrated = nullptr;  // for the drift of values; may be null
  // kOutputs: only the graph's outputs are compared, without local figures.
  enum class Scope { kAllValues, kOutputs };
  Scope scope = Scope::kAllValues;
};

struct DiffResult {
  std::vector<v1::ValueNumerics> values = {};    // in the order of the float graph
  std::vector<v1::ValueNumerics> outputs = {};   // in the order of the graph's outputs
  int64_t saturated = 0;                         // elements over all values, see ValueStats
  std::vector<runtime::StepProfile> steps = {};  // of the integer runs, summed per node
  std::vector<NanInput> nan_inputs = {};         // of the quantized graph
  std::optional<v1::Accuracy> accuracy = {};     // of the labels, if there are any
};

// Each batch has one tensor per graph input.  The inputs of both graphs are equal except for
// quantization: Diff quantizes the samples of an integer input.  kInvalidArgument for labels that
// match no output.
Result<DiffResult> Diff(const ir::Graph& float_graph, const ir::Graph& quantized,
                        const ir::Batches& batches, const DiffOptions& options, ThreadPool& pool,
                        const StopToken& stop);

}  // namespace octavo::report
