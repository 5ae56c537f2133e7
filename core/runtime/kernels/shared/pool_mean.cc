// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/pool_mean.h"

namespace octavo::runtime {
namespace {

// The window of a global pool is the whole image.
std::vector<PoolAxis> AxesOf(const NodeView& view) {
  const ir::Shape& x = view.in(0).shape;
  if (view.node.attributes.Has("kernel_shape")) return PoolAxes(view.node, x, view.out().shape);
  std::vector<PoolAxis> axes(4 - x.size());
  for (size_t i = 2; i < x.size(); ++i) axes.push_back({.in = x[i], .kernel = x[i]});
  return axes;
}

}  // namespace

PoolMean PoolMean::Of(const NodeView& view) {
  const auto axes = AxesOf(view);
  return {axes[0], axes[1], view.node.attributes.Int("count_include_pad", 0) != 0};
}

}  // namespace octavo::runtime
