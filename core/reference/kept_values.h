// Values of runs over some samples, kept so that later runs over the same samples need not compute
// them again.
#pragma once

#include <span>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::reference {

struct KeptValues {
  std::vector<ir::ValueId> values = {};
  std::vector<std::vector<ir::Tensor>> samples = {};  // for each sample a tensor for each value

  // The values that follow are those of another sample.
  void AddSample() { samples.emplace_back(values.size()); }
  // Copies the tensor where its value is kept.
  void Keep(ir::ValueId value, const ir::Tensor& tensor);
  std::span<const ir::Tensor> OfSample(int64_t sample) const;
};

// The results that take the most multiply-adds per byte: products with constant weights, the
// longest sums first, as many as have `bytes` bytes in all for so many samples.
std::vector<ir::ValueId> CostlyValues(const ir::Graph& graph, int64_t samples, int64_t bytes);

int64_t ConstantBytes(const ir::Graph& graph);

}  // namespace octavo::reference
