// SPDX-License-Identifier: Apache-2.0
// Every value of one run of a graph by definition, dequantized.
#pragma once

#include <vector>

#include "core/ir/graph.h"
#include "core/numerics/mode_table.h"

namespace octavo::test {

class RunValues {
 public:
  // `inputs` has one tensor per graph input, as the graph stores it.  Quantized ops compute as
  // dequantize, op, quantize.
  static Result<RunValues> Of(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs);
  // The same, but quantized ops compute in integers, as the runtime does.
  static Result<RunValues> InIntegers(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs,
                                      const numerics::Mode& mode = numerics::kOnnx);

  // The stored tensor of an input, a constant or a computed value.
  const ir::Tensor& stored(ir::ValueId id) const { return stored_[id.index]; }
  // The real values in double; a quantized value q becomes (q - zp) * scale.
  const std::vector<double>& real_values(ir::ValueId id) const;

 private:
  static RunValues Given(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs);

  const ir::Graph* graph_ = nullptr;
  std::vector<ir::Tensor> stored_ = {};
  mutable std::vector<std::vector<double>> real_values_ = {};
};

// The largest distance between elements of two values with equal counts; NaNs, and equal
// infinities, have distance 0.
double Distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace octavo::test
