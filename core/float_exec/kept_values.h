// SPDX-License-Identifier: Apache-2.0
// A cache of values computed for some samples; later runs over the same samples reuse them.
#pragma once

#include <span>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::float_exec {

struct KeptValues {
  std::vector<ir::ValueId> values = {};
  std::vector<std::vector<ir::Tensor>> samples = {};  // [sample][index in values]

  // Starts the next sample: later calls of Keep refer to it.
  void AddSample() { samples.emplace_back(values.size()); }
  // Copies the tensor if `value` is in `values`.
  void Keep(ir::ValueId value, const ir::Tensor& tensor);
  std::span<const ir::Tensor> OfSample(int64_t sample) const;
};

// Selects the results with the most multiply-adds per byte: products with constant weights, longest
// sums first, up to `bytes` bytes in total for `samples` samples.
std::vector<ir::ValueId> CostlyValues(const ir::Graph& graph, int64_t samples, int64_t bytes);

int64_t ConstantBytes(const ir::Graph& graph);

}  // namespace octavo::float_exec
