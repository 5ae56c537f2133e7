// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/axis_rule.h"

#include <numeric>

namespace octavo::ops {
namespace {

using ir::Quant;
using ir::Shape;

// The position of an axis within the flat index k: coordinate (k / stride) mod extent.
struct Cut {
  int64_t stride = 1;
  int64_t extent = 1;

  int64_t At(int64_t k) const { return k / stride % extent; }
};

Cut CutOf(const Shape& shape, int axis) {
  Cut cut{1, shape[axis]};
  for (size_t i = axis + 1; i < shape.size(); ++i) cut.stride *= shape[i];
  return cut;
}

// R1 and R2: whether the coordinate along `to` determines the channel, for any parameters.
bool Covers(const Cut& to, const Cut& channel) {
  return channel.stride % to.stride == 0 &&
         (to.stride * to.extent) % (channel.stride * channel.extent) == 0;
}

// R3: picks one channel for each coordinate of `to`, if all channels that meet the coordinate have
// equal parameters.  Both coordinates are constant along blocks whose length is the strides'
// greatest common divisor, so checking the first element of each block is enough.
std::optional<std::vector<int64_t>> Representatives(const Quant& quant, const Cut& channel,
                                                    const Cut& to, int64_t elements) {
  std::vector<int64_t> chosen(to.extent, -1);
  const int64_t step = std::gcd(channel.stride, to.stride);
  for (int64_t k = 0; k < elements; k += step) {
    int64_t& at = chosen[to.At(k)];
    const int64_t c = channel.At(k);
    if (at < 0) at = c;
    if (quant.scales[at] != quant.scales[c] || quant.zero_points[at] != quant.zero_points[c]) {
      return std::nullopt;
    }
  }
  return chosen;
}

Quant Pick(const Quant& quant, const std::vector<int64_t>& channels, int axis) {
  Quant picked{{}, {}, axis, 0};
  for (const int64_t c : channels) {
    picked.scales.push_back(quant.scales[c]);
    picked.zero_points.push_back(quant.zero_points[c]);
  }
  return picked;
}

}  // namespace

std::optional<Quant> ReshapeQuant(const Quant& quant, const Shape& from, const Shape& to) {
  if (quant.per_tensor()) return quant;
  if (quant.scales.empty()) return Quant{};  // no channels, hence no elements
  if (quant.Uniform()) return Quant::PerTensor(quant.scales[0], quant.zero_points[0]);
  const int64_t elements = ir::NumElements(from);
  if (elements == 0) return Quant::PerTensor(quant.scales[0], quant.zero_points[0]);
  const Cut channel = CutOf(from, *quant.axis);
  for (int axis = static_cast<int>(to.size()); axis-- > 0;) {
    const Cut cut = CutOf(to, axis);
    if (!Covers(cut, channel)) continue;
    std::vector<int64_t> channels(cut.extent);
    for (int64_t j = 0; j < cut.extent; ++j) channels[j] = channel.At(j * cut.stride);
    return Pick(quant, channels, axis);
  }
  for (int axis = static_cast<int>(to.size()); axis-- > 0;) {
    const Cut cut = CutOf(to, axis);
    if (cut.extent == 1) continue;
    if (const auto channels = Representatives(quant, channel, cut, elements)) {
      return Pick(quant, *channels, axis);
    }
  }
  return std::nullopt;
}

std::optional<Quant> IfUniform(const Quant& from) {
  if (from.scales.empty() || !from.Uniform()) return std::nullopt;
  return Quant::PerTensor(from.scales[0], from.zero_points[0]);
}

}  // namespace octavo::ops
