// SPDX-License-Identifier: Apache-2.0
// The smallest model that has quantized weights, a quantized bias, a Relu and a pool.
#pragma once

#include <string_view>

namespace octavo::job {

inline constexpr std::string_view kTinyModel = R"(graph(%x: tensor<1x3x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  const %b = random(2) : tensor<4xf32>
  %c = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %r = Relu(%c) : tensor<1x4x8x8xf32>
  %y = MaxPool(%r) {kernel_shape=[2, 2], strides=[2, 2]} : tensor<1x4x4x4xf32>
}
)";

}  // namespace octavo::job
