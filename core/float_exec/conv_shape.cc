// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/conv_shape.h"

#include <string>

namespace octavo::float_exec {
namespace {

using Ints = std::vector<int64_t>;

// Sets the padding by ONNX's auto_pad.  For SAME_*, `total` pads a Conv's output to ceil(in /
// stride).
void ResolvePadding(const std::string& auto_pad, int64_t total, ConvAxis& axis) {
  if (auto_pad == "VALID") axis.before = axis.after = 0;
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") return;
  total = std::max<int64_t>(0, total);
  axis.before = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
  axis.after = total - axis.before;
}

int64_t At(const Ints& ints, size_t i, int64_t fallback) {
  return i < ints.size() ? ints[i] : fallback;
}

ConvAxis AxisOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& w, size_t i) {
  const ir::AttrMap& attributes = node.attributes;
  const Ints pads = attributes.Ints("pads");
  const size_t spatial = x.size() - 2;
  return {.in = x[2 + i],
          .kernel = w[2 + i],
          .stride = At(attributes.Ints("strides"), i, 1),
          .dilation = At(attributes.Ints("dilations"), i, 1),
          .before = At(pads, i, 0),
          .after = At(pads, spatial + i, 0),
          .extra = At(attributes.Ints("output_padding"), i, 0)};
}

// For one or two axes; a missing first axis has extent 1.
std::optional<ConvShape> InPlane(const std::optional<ConvAxes>& sizes) {
  if (!sizes || sizes->axes.size() > 2) return std::nullopt;
  const ConvAxis height = sizes->axes.size() == 2 ? sizes->axes[0] : ConvAxis{};
  const ConvAxis& width = sizes->axes.back();
  return ConvShape{.batch = sizes->batch,
                   .in_channels = sizes->in_channels,
                   .out_channels = sizes->out_channels,
                   .groups = sizes->groups,
                   .in_height = height.in,
                   .in_width = width.in,
                   .kernel_height = height.kernel,
                   .kernel_width = width.kernel,
                   .stride_height = height.stride,
                   .stride_width = width.stride,
                   .dilation_height = height.dilation,
                   .dilation_width = width.dilation,
                   .pad_top = height.before,
                   .pad_left = width.before,
                   .pad_bottom = height.after,
                   .pad_right = width.after,
                   .output_padding_height = height.extra,
                   .output_padding_width = width.extra};
}

}  // namespace

std::optional<ConvAxes> ConvAxesOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& w) {
  if (x.size() < 3) return std::nullopt;
  const std::string auto_pad = node.attributes.String("auto_pad", "NOTSET");
  ConvAxes sizes{.batch = x[0],
                 .in_channels = x[1],
                 .out_channels = w[0],
                 .groups = node.attributes.Int("group", 1)};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    ConvAxis& axis = sizes.axes.emplace_back(AxisOf(node, x, w, i));
    ResolvePadding(auto_pad, (axis.in - 1) / axis.stride * axis.stride + axis.reach() - axis.in,
                   axis);
  }
  return sizes;
}

std::optional<ConvAxes> ConvTransposeAxesOf(const ir::Node& node, const ir::Shape& x,
                                            const ir::Shape& w) {
  if (x.size() < 3) return std::nullopt;
  const std::string auto_pad = node.attributes.String("auto_pad", "NOTSET");
  const Ints wanted = node.attributes.Ints("output_shape");
  const size_t spatial = x.size() - 2;
  const int64_t groups = node.attributes.Int("group", 1);
  ConvAxes sizes{
      .batch = x[0], .in_channels = x[1], .out_channels = w[1] * groups, .groups = groups};
  for (size_t i = 0; i < spatial; ++i) {
    ConvAxis& axis = sizes.axes.emplace_back(AxisOf(node, x, w, i));
    const int64_t full = axis.stride * (axis.in - 1) + axis.extra + axis.reach();
    if (!wanted.empty()) {
      // output_shape determines the padding; its last extents are the spatial ones.
      const int64_t total = full - wanted[wanted.size() - spatial + i];
      if (total < 0) return std::nullopt;
      axis.before = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      axis.after = total - axis.before;
    } else {
      ResolvePadding(auto_pad, full - axis.in * axis.stride, axis);
    }
  }
  return sizes;
}

std::optional<ConvShape> ConvShapeOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& w) {
  return InPlane(ConvAxesOf(node, x, w));
}

std::optional<ConvShape> ConvTransposeShapeOf(const ir::Node& node, const ir::Shape& x,
                                              const ir::Shape& w) {
  return InPlane(ConvTransposeAxesOf(node, x, w));
}

}  // namespace octavo::float_exec
