// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/random_types.h"

#include "core/ir/canonical_quant.h"

namespace octavo::test {

using ir::DType;
using ir::Quant;
using ir::Shape;
using ir::Type;

Type DrawPerTensor(Dice& dice) {
  static const std::vector<DType> kTypes = {DType::kU8, DType::kU8, DType::kI8,
                                            DType::kI8, DType::kU8, DType::kI16};
  const DType dtype = dice.Pick(kTypes);
  const ir::IntegerRange limits = ir::IntegerRangeOf(dtype);
  const double range = dice.Real(1, 12);
  const auto scale = static_cast<float>(range / static_cast<double>(limits.max - limits.min));
  const int64_t middle = (limits.min + limits.max + 1) / 2;
  const std::vector<int64_t> zeros = {limits.min, middle, middle,
                                      dice.Between(limits.min, limits.max)};
  return {dtype, {}, Quant::PerTensor(scale, static_cast<int32_t>(dice.Pick(zeros))), {}};
}

Type DrawPerChannel(Dice& dice, Type type) {
  const int64_t axis = dice.Below(static_cast<int64_t>(type.shape.size()));
  const Quant base = *type.quant;
  std::vector<float> scales;
  for (int64_t c = 0; c < type.shape[axis]; ++c) {
    scales.push_back(base.scale() * static_cast<float>(dice.Real(0.5, 2)));
  }
  std::vector<int32_t> zero_points(scales.size(), base.zero_point());
  if (dice.Chance(30)) {
    const ir::IntegerRange limits = ir::IntegerRangeOf(type.dtype);
    for (int32_t& zp : zero_points) {
      zp = static_cast<int32_t>(dice.Between(limits.min, limits.max));
    }
  }
  type.quant = ir::Canonical(
      Quant::PerAxis(static_cast<int>(axis), std::move(scales), std::move(zero_points)));
  return type;
}

Type BiasType(const Type& x, const Type& w, const Shape& shape) {
  const std::vector<float>& weight = w.quant->scales;
  Quant quant = Quant::PerTensor(x.quant->scale() * weight[0], 0);
  if (!w.quant->per_tensor()) {
    std::vector<float> scales;
    for (int64_t c = 0; c < shape.back(); ++c) {
      scales.push_back(x.quant->scale() * weight[static_cast<size_t>(c) % weight.size()]);
    }
    const std::vector<int32_t> zero_points(scales.size(), 0);
    quant = Quant::PerAxis(static_cast<int>(shape.size()) - 1, scales, zero_points);
  }
  return {DType::kI32, shape, std::move(quant), {}};
}

Type TableType(Dice& dice, const Shape& shape, int axis) {
  std::vector<float> scales(static_cast<size_t>(shape[static_cast<size_t>(axis)]));
  for (float& scale : scales) scale = static_cast<float>(dice.Real(0.005, 0.02));
  std::vector<int32_t> zero_points(scales.size(), 0);
  if (dice.Chance(30)) {
    for (int32_t& zp : zero_points) zp = static_cast<int32_t>(dice.Between(-20, 20));
  }
  Quant quant = Quant::PerAxis(axis, std::move(scales), std::move(zero_points));
  return {DType::kI8, shape, ir::Canonical(std::move(quant)), {}};
}

}  // namespace octavo::test
