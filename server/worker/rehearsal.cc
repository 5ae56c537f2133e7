// SPDX-License-Identifier: Apache-2.0
#include "server/worker/rehearsal.h"

namespace octavo::server::worker {
namespace {

// Ops with kernels of their own, in float and in integers.
constexpr std::string_view kGraph = R"(graph(%x: tensor<1x4x8x8xf32>) -> (%y) {
  const %w = random(1) : tensor<8x4x3x3xf32>
  const %b = splat(0.5) : tensor<8xf32>
  const %v = random(2) : tensor<8x8xf32>
  const %shape = [1, 8] : tensor<2xi64>
  %c = Conv(%x, %w, %b) {pads=[1, 1, 1, 1]} : tensor<1x8x8x8xf32>
  %r = Relu(%c) : tensor<1x8x8x8xf32>
  %p = MaxPool(%r) {kernel_shape=[8, 8]} : tensor<1x8x1x1xf32>
  %f = Reshape(%p, %shape) : tensor<1x8xf32>
  %m = MatMul(%f, %v) : tensor<1x8xf32>
  %y = Softmax(%m) {axis=1} : tensor<1x8xf32>
}
)";

}  // namespace

job::Request RehearsalRequest() {
  return {.options = {.threads = 2},
          .model = {.name = "rehearsal.graph", .bytes = Blob(std::string(kGraph))},
          .samples = {{.name = "random:1:2", .bytes = Blob(std::string())}}};
}

}  // namespace octavo::server::worker
