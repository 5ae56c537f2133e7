// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_inputs.h"

#include <cmath>

#include "core/text/elements.h"

namespace octavo::test {
namespace {

ir::Tensor RandomInput(const ir::Type& type, uint64_t seed) {
  if (type.quantized() || type.dtype == ir::DType::kBool) {
    return text::RandomTensor(type.dtype, type.shape, seed);
  }
  const bool is_float = ir::IsFloat(type.dtype);
  const ir::Range range = type.range.value_or(is_float ? ir::Range{-8, 8} : ir::Range{0, 1});
  const ir::Tensor unit = text::RandomTensor(ir::DType::kF32, type.shape, seed);
  ir::Tensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double part = (unit.FloatAt(i) + 1.0) / 2;  // [0, 1)
    if (type.dtype == ir::DType::kF32) {
      tensor.mutable_values<float>()[i] =
          static_cast<float>(range.min + part * (range.max - range.min));
      continue;
    }
    const double count = std::floor(range.max) - std::ceil(range.min) + 1;
    const double value = std::ceil(range.min) + std::floor(part * count);
    text::ParseElement(fmt::format("{}", static_cast<int64_t>(value)), tensor, i);
  }
  return tensor;
}

}  // namespace

std::vector<ir::Tensor> RandomInputs(const ir::Graph& graph, uint64_t seed) {
  std::vector<ir::Tensor> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    inputs.push_back(RandomInput(graph.type(id), seed * 1000 + inputs.size()));
  }
  return inputs;
}

}  // namespace octavo::test
