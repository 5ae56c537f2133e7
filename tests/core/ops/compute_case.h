// SPDX-License-Identifier: Apache-2.0
// Tables of cases for ops that compute: a node and its expected results.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/core/ops/data_case.h"

namespace octavo::ops {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

// A tensor of 1, 2, 3 ... with the given shape.
inline ir::Tensor Counting(const ir::Shape& shape, float first = 1) {
  Floats values(static_cast<size_t>(ir::NumElements(shape)));
  for (float& value : values) value = first++;
  return ir::Tensor::Of<float>(shape, values);
}

inline ir::Tensor Filled(const ir::Shape& shape, float value) {
  return ir::Tensor::Of<float>(shape, Floats(static_cast<size_t>(ir::NumElements(shape)), value));
}

inline ir::Tensor Row(const Floats& values) {
  return ir::Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

// A node and its expected result.  `near` is the tolerance per element; 0 requires equality, where
// NaN equals NaN.
struct ComputeCase {
  DataCase run = {};
  ir::Shape shape = {};
  std::vector<double> values = {};
  double near = 0;
};

inline void Check(const std::vector<ComputeCase>& cases) {
  for (size_t row = 0; row < cases.size(); ++row) {
    const ComputeCase& test = cases[row];
    SCOPED_TRACE(fmt::format("{}, row {}", test.run.op, row));
    const auto results = RunCase(test.run);
    ASSERT_TRUE(results) << results.error().message;
    const ir::Tensor& result = (*results)[0];
    EXPECT_EQ(result.shape(), test.shape);
    ASSERT_EQ(result.size(), static_cast<int64_t>(test.values.size()));
    for (int64_t i = 0; i < result.size(); ++i) {
      const double is = result.FloatAt(i), must = test.values[static_cast<size_t>(i)];
      if (std::isnan(must)) {
        EXPECT_TRUE(std::isnan(is)) << "element " << i << " is " << is;
      } else if (test.near == 0) {
        EXPECT_EQ(is, must) << "element " << i;
      } else {
        EXPECT_NEAR(is, must, test.near) << "element " << i;
      }
    }
  }
}

// The error message of a case that must be refused.
inline std::string Refusal(const DataCase& run) {
  const auto results = RunCase(run);
  return results ? "accepted" : results.error().message;
}

}  // namespace octavo::ops
