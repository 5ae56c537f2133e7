// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/axis_rule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <functional>

namespace octavo::ops {
namespace {

using ir::Quant;
using ir::Shape;

// Calls f with all shapes that have `elements` elements and at most `rank` axes.
void Shapes(int64_t elements, int rank, Shape& prefix, const std::function<void(const Shape&)>& f) {
  if (elements == 1) f(prefix);
  if (rank == 0) return;
  for (int64_t extent = 1; extent <= elements; ++extent) {
    if (elements % extent != 0) continue;
    prefix.push_back(extent);
    Shapes(elements / extent, rank - 1, prefix, f);
    prefix.pop_back();
  }
}

// The parameter pair of every element.
std::vector<std::pair<float, int32_t>> PerElement(const Quant& quant, const Shape& shape) {
  std::vector<std::pair<float, int32_t>> pairs;
  int64_t stride = 1;
  for (size_t i = quant.axis ? *quant.axis + 1 : 0; i < shape.size(); ++i) stride *= shape[i];
  for (int64_t k = 0; k < ir::NumElements(shape); ++k) {
    const int64_t c = quant.axis ? k / stride % shape[*quant.axis] : 0;
    pairs.emplace_back(quant.scales[c], quant.zero_points[c]);
  }
  return pairs;
}

// Whether a type of shape `to` exists that gives every element its pair.
bool Representable(const std::vector<std::pair<float, int32_t>>& pairs, const Shape& to) {
  int64_t stride = 1;
  for (size_t axis = to.size(); axis-- > 0; stride *= to[axis]) {
    bool good = true;
    for (int64_t k = 0; k < static_cast<int64_t>(pairs.size()) && good; ++k) {
      const int64_t j = k / stride % to[axis];
      good = pairs[k] == pairs[j * stride];
    }
    if (good) return true;
  }
  return std::ranges::all_of(pairs, [&](const auto& pair) { return pair == pairs[0]; });
}

void CheckAll(int64_t elements, const std::function<float(int64_t)>& scale) {
  Shape first, second;
  int64_t kept = 0;
  Shapes(elements, 3, first, [&](const Shape& from) {
    for (size_t axis = 0; axis < from.size(); ++axis) {
      std::vector<float> scales;
      for (int64_t c = 0; c < from[axis]; ++c) scales.push_back(scale(c));
      const Quant quant =
          Quant::PerAxis(static_cast<int>(axis), scales, std::vector<int32_t>(scales.size(), 3));
      const auto pairs = PerElement(quant, from);
      Shapes(elements, 3, second, [&](const Shape& to) {
        const auto mapped = ReshapeQuant(quant, from, to);
        ASSERT_EQ(mapped.has_value(), Representable(pairs, to))
            << ir::ToString(from) << " axis " << axis << " to " << ir::ToString(to);
        if (!mapped) return;
        ++kept;
        ASSERT_EQ(PerElement(*mapped, to), pairs)
            << ir::ToString(from) << " axis " << axis << " to " << ir::ToString(to);
      });
    }
  });
  EXPECT_GT(kept, 0);
}

TEST(AxisRule, AgreesWithBruteForceForDistinctParameters) {
  for (const int64_t elements : {6, 8, 12, 24, 30, 36}) {
    CheckAll(elements, [](int64_t c) { return static_cast<float>(c + 1); });
  }
}

TEST(AxisRule, AgreesWithBruteForceForPeriodicParameters) {
  for (const int64_t elements : {8, 12, 24, 36}) {
    CheckAll(elements, [](int64_t c) { return static_cast<float>(c % 2 + 1); });
    CheckAll(elements, [](int64_t c) {
      const int64_t pair = c / 2;
      return static_cast<float>(pair + 1);
    });
  }
}

TEST(AxisRule, MergingAxesRepeatsTheVector) {
  const Quant quant = Quant::PerAxis(1, {0.5f, 0.25f}, {0, 1});
  const auto mapped = ReshapeQuant(quant, {2, 2, 3}, {4, 3});
  ASSERT_TRUE(mapped);
  EXPECT_EQ(*mapped, Quant::PerAxis(0, {0.5f, 0.25f, 0.5f, 0.25f}, {0, 1, 0, 1}));
}

TEST(AxisRule, EqualParametersBecomePerTensor) {
  const Quant quant = Quant::PerAxis(0, {0.5f, 0.5f}, {1, 1});
  EXPECT_EQ(ReshapeQuant(quant, {2, 3}, {3, 2}), Quant::PerTensor(0.5f, 1));
}

}  // namespace
}  // namespace octavo::ops
