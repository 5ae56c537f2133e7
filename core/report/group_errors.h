// SPDX-License-Identifier: Apache-2.0
// What the rounding of single values does to the outputs: the float graph runs with the values of
// one group, or the weights of one layer, quantized, and everything else in float.  These errors
// rank the groups; they do not add up to the error of the quantized model, since errors can cancel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/ir/batches.h"
#include "core/ir/graph.h"
#include "core/numerics/mode.h"

namespace octavo::report {

// Values of the float graph that have one type in the quantized graph.
struct ScaleGroup {
  std::vector<ir::ValueId> values = {};
  ir::Type type = {};  // dtype, scale and zero point; the shape does not matter
};

// A layer of the float graph with the weights of the quantized graph, as floats.
struct RoundedLayer {
  ir::NodeId node = {};
  size_t weight_input = 0, bias_input = 0;
  ir::Tensor weight = {};
  std::optional<ir::Tensor> bias = {};  // empty: the float graph's
};

// For each group |y_v - y|^2 / |y|^2: y_v are the outputs with the group's values quantized; the
// mean over outputs whose y is not zero, and over the batches.  Only nodes behind the group's
// values are computed again.  Holds all values of one batch.
Result<std::vector<double>> GroupErrors(const ir::Graph& float_graph,
                                        std::span<const ScaleGroup> groups,
                                        const ir::Batches& batches, const numerics::Mode& mode,
                                        ThreadPool& pool, const StopToken& stop);

// The same for each group and each layer.
struct OutputErrors {
  std::vector<double> groups = {}, layers = {};
};
Result<OutputErrors> ErrorsOf(const ir::Graph& float_graph, std::span<const ScaleGroup> groups,
                              std::span<const RoundedLayer> layers, const ir::Batches& batches,
                              const numerics::Mode& mode, ThreadPool& pool, const StopToken& stop);

}  // namespace octavo::report
