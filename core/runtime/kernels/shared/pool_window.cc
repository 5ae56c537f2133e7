// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/pool_window.h"

namespace octavo::runtime {

std::vector<PoolAxis> PoolAxes(const ir::Node& node, const ir::Shape& x, const ir::Shape& y) {
  const ir::AttrMap& attributes = node.attributes;
  const auto kernel = attributes.Ints("kernel_shape");
  const auto strides = attributes.Ints("strides"), dilations = attributes.Ints("dilations");
  const auto pads = attributes.Ints("pads");
  const std::string auto_pad = attributes.String("auto_pad", "NOTSET");
  const size_t spatial = x.size() - 2;
  std::vector<PoolAxis> axes;
  if (spatial == 1) axes.emplace_back();
  for (size_t i = 0; i < spatial; ++i) {
    PoolAxis axis{.in = x[2 + i], .out = y[2 + i], .kernel = kernel[i]};
    if (i < strides.size()) axis.stride = strides[i];
    if (i < dilations.size()) axis.dilation = dilations[i];
    if (spatial + i < pads.size() && auto_pad == "NOTSET") {
      axis.before = pads[i];
      axis.after = pads[spatial + i];
    }
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      const int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
      const int64_t total = std::max<int64_t>(0, (axis.out - 1) * axis.stride + reach - axis.in);
      axis.before = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      axis.after = total - axis.before;
    }
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace octavo::runtime
