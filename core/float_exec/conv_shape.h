// SPDX-License-Identifier: Apache-2.0
// Reads the sizes of a Conv or ConvTranspose node in the form that the kernels use.
#pragma once

#include <optional>
#include <vector>

#include "core/float_exec/kernels/conv.h"
#include "core/ir/graph.h"

namespace octavo::float_exec {

// One spatial axis with explicit padding.
struct ConvAxis {
  int64_t in = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0, extra = 0;

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
};

// The sizes for any number of spatial axes.
struct ConvAxes {
  int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  std::vector<ConvAxis> axes = {};
};

// nullopt if there is no spatial axis, or if no padding yields the attribute output_shape.
std::optional<ConvAxes> ConvAxesOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& w);
std::optional<ConvAxes> ConvTransposeAxesOf(const ir::Node& node, const ir::Shape& x,
                                            const ir::Shape& w);

// nullopt for more than two spatial axes; a one-dimensional convolution has height 1.
std::optional<ConvShape> ConvShapeOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& w);
std::optional<ConvShape> ConvTransposeShapeOf(const ir::Node& node, const ir::Shape& x,
                                              const ir::Shape& w);

}  // namespace octavo::float_exec
