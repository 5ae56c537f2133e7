// SPDX-License-Identifier: Apache-2.0
// Requantization in float32, against independently computed vectors (mode_vectors.py).
#include "core/runtime/kernels/shared/requantize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/numerics/mode_vectors.h"

namespace octavo::runtime {
namespace {

TEST(Requantize, RoundsTheFloatProductToEven) {
  for (const auto& real : numerics::mode_vectors::kReal) {
    const float m = std::ldexp(static_cast<float>(real.odd), -real.k);
    EXPECT_EQ(Requantize(real.x, m, real.zero, {-128, 127}), real.onnx)
        << real.x << " " << m << " " << real.zero;
  }
}

}  // namespace
}  // namespace octavo::runtime
