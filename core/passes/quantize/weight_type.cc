// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/weight_type.h"

#include <algorithm>

#include "core/base/mapped_pages.h"
#include "core/ir/canonical_quant.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

// Minimum and maximum of each channel along the axis.
std::vector<ir::Range> ChannelRanges(const ir::Tensor& tensor, int axis) {
  const ir::Shape& shape = tensor.shape();
  const int64_t channels = shape[axis];
  const int64_t stride = ir::StridesOf(shape)[axis];
  const std::span<const float> values = tensor.values<float>();
  std::vector<ir::Range> ranges(channels, ir::Range{0, 0});
  for (int64_t begin = 0; begin < tensor.size(); begin += stride) {
    ir::Range& range = ranges[(begin / stride) % channels];
    for (int64_t i = begin; i < begin + stride; ++i) {
      range.min = std::min(range.min, values[i]);
      range.max = std::max(range.max, values[i]);
    }
  }
  return ranges;
}

}  // namespace

bool IsWeight(const ir::Node& node, size_t input) {
  return node.op->RoleOf(input) == ir::Role::kWeight || (Is(node, "Gather") && input == 0);
}

std::optional<int> ScaleAxis(const ir::Graph& graph, const ir::Node& node, size_t input) {
  if (Is(node, "Gather")) {
    const size_t rank = graph.type(node.inputs[0]).shape.size();
    return static_cast<int>(FrontAxis(node.attributes.Int("axis", 0), rank));
  }
  const int axis =
      node.op->weight_axis ? node.op->weight_axis(graph, node, static_cast<int>(input)) : -1;
  return axis < 0 ? std::nullopt : std::optional(axis);
}

std::optional<int> TermAxis(const ir::Graph& graph, const ir::Node& node, size_t input) {
  const std::optional<int> outputs = ScaleAxis(graph, node, input);
  const bool matrix = graph.type(node.inputs[input]).shape.size() == 2;
  return outputs && matrix ? std::optional(1 - *outputs) : std::nullopt;
}

ir::Range RangeOf(const ir::Tensor& tensor) {
  if (tensor.size() == 0) return {};
  const auto [min, max] = std::ranges::minmax(tensor.values<float>());
  ReleasePages(tensor.raw_bytes());
  return {min, max};
}

ir::Type WeightType(const ir::Tensor& weight, std::optional<int> axis, std::string_view op,
                    const target::Target& target) {
  const profile::Scheme scheme = profile::WeightSchemeOf(target);
  if (!axis || !target.PerChannel(op)) return ConstantType(weight, scheme);

  ir::Quant quant{.scales = {}, .zero_points = {}, .axis = axis};
  std::vector<size_t> zero_channels;
  double sum = 0;
  for (const ir::Range& range : ChannelRanges(weight, *axis)) {
    const profile::Params params = profile::ChooseParams(range.min, range.max, scheme);
    if (params.all_zero) {
      zero_channels.push_back(quant.scales.size());
    } else {
      sum += params.scale;
    }
    quant.scales.push_back(params.scale);
    quant.zero_points.push_back(params.zero_point);
  }
  const size_t others = quant.scales.size() - zero_channels.size();
  if (others > 0) {
    auto mean = static_cast<float>(sum / static_cast<double>(others));
    if (scheme.kind == target::SchemeKind::kPow2) mean = profile::RoundUpToPowerOfTwo(mean);
    for (const size_t channel : zero_channels) quant.scales[channel] = mean;
  }
  ReleasePages(weight.raw_bytes());
  return {scheme.dtype, weight.shape(), ir::Canonical(std::move(quant)), {}};
}

ir::Type ConstantType(const ir::Tensor& constant, const profile::Scheme& scheme) {
  const ir::Range range = RangeOf(constant);
  const profile::Params params = profile::ChooseParams(range.min, range.max, scheme);
  return {
      scheme.dtype, constant.shape(), ir::Quant::PerTensor(params.scale, params.zero_point), {}};
}

}  // namespace octavo::passes
