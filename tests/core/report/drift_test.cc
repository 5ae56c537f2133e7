// SPDX-License-Identifier: Apache-2.0
// The drift of a value equals its definition, for any number of threads.
#include "core/report/drift.h"

#include <gtest/gtest.h>

#include <limits>

namespace octavo::report {
namespace {

v1::Drift DriftOf(const ir::Range& range, const std::vector<float>& values, int threads = 1) {
  ThreadPool pool(threads);
  DriftCounter counter(range);
  ir::Tensor tensor(ir::DType::kF32, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.mutable_values<float>().begin());
  counter.Add(tensor, pool);
  return counter.Finish();
}

TEST(Drift, CountsElementsOutsideAndMeasuresTheFarthest) {
  const v1::Drift drift = DriftOf({-1, 3}, {-1, 3, 0, -2, 4, 3.5f, 1, 2});
  EXPECT_EQ(drift.share(), 3.0 / 8);
  EXPECT_EQ(drift.excess(), 1.0 / 4);
}

TEST(Drift, OfValuesWithinTheRangeIsZero) {
  const v1::Drift drift = DriftOf({-1, 3}, {-1, 3, 0});
  EXPECT_EQ(drift.share(), 0);
  EXPECT_EQ(drift.excess(), 0);
}

TEST(Drift, LeavesOutElementsThatAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const v1::Drift drift = DriftOf({0, 1}, {infinity, -infinity, nan, 1.5f});
  EXPECT_EQ(drift.share(), 0.25);
  EXPECT_EQ(drift.excess(), 0.5);
}

TEST(Drift, OfARangeWithoutWidthIsTheDistance) {
  EXPECT_EQ(DriftOf({2, 2}, {2, 2.5f}).excess(), 0.5);
}

TEST(Drift, AddsUpOverSamplesAndThreads) {
  std::vector<float> values;
  for (int i = 0; i < 400'000; ++i) values.push_back(static_cast<float>(i % 1000) / 100);
  const v1::Drift one = DriftOf({1, 9}, values), three = DriftOf({1, 9}, values, 3);
  EXPECT_EQ(one.share(), 0.199);  // 0 to 99 and 901 to 999 of each 1000
  EXPECT_EQ(one.SerializeAsString(), three.SerializeAsString());
  ThreadPool pool(1);
  DriftCounter counter({0, 1});
  counter.Add(ir::Tensor::Of<float>({2}, {0, 3}), pool);
  counter.Add(ir::Tensor::Of<float>({2}, {-1, 1}), pool);
  EXPECT_EQ(counter.Finish().share(), 0.5);
  EXPECT_EQ(counter.Finish().excess(), 2);
}

}  // namespace
}  // namespace octavo::report
