// SPDX-License-Identifier: Apache-2.0
// Every value of one run of a graph by definition, dequantized.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::test {

class RunValues {
 public:
  // One tensor per graph input, as the graph stores it.
  static Result<RunValues> Of(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs);

  // As stored; of inputs, constants and computed values.
  const ir::Tensor& stored(ir::ValueId id) const { return stored_[id.index]; }
  // In double; quantized values are (q - zp) * scale.
  const std::vector<double>& real_values(ir::ValueId id) const;

 private:
  const ir::Graph* graph_ = nullptr;
  std::vector<ir::Tensor> stored_ = {};
  mutable std::vector<std::vector<double>> real_values_ = {};
};

// The largest distance of two values of equally many elements; NaNs and equal infinities are 0
// apart.
double Distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace octavo::test
