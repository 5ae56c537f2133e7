// SPDX-License-Identifier: Apache-2.0
// Parts samples by their sizes.
#include <algorithm>
#include <cstdint>

#include "core/data/samples.h"

namespace octavo::data {

ArrayPtr SampleSource::ArrayOf(const Group& group, const std::vector<Declared>& inputs,
                               size_t input) {
  const auto at = group.named.find(inputs[input].name);
  if (at != group.named.end()) return at->second;
  const bool placed = input < group.placed.size() && group.placed.size() == inputs.size();
  return placed ? group.placed[input] : nullptr;
}

std::optional<std::vector<ir::Shape>> SampleSource::SizesOf(const Group& group,
                                                            const std::vector<Declared>& inputs) {
  std::vector<ir::Shape> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArrayPtr array = ArrayOf(group, inputs, i);
    const auto& declared = inputs[i].extents;
    if (array == nullptr || declared.empty()) return std::nullopt;
    ir::Shape shape = array->shape();
    if (shape.size() == declared.size()) shape.erase(shape.begin());
    if (shape.size() + 1 != declared.size()) return std::nullopt;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (declared[axis + 1].value_or(shape[axis]) != shape[axis]) return std::nullopt;
    }
    sizes.push_back(std::move(shape));
  }
  return sizes;
}

std::vector<SampleSource> SampleSource::BySize(const std::vector<Declared>& inputs) const {
  if (random_ || inputs.empty()) return {*this};
  SampleSource settled = *this;
  std::vector<std::string> names;
  for (const Declared& input : inputs) names.push_back(input.name);
  settled.Settle(names);
  std::vector<std::optional<std::vector<ir::Shape>>> sizes;
  std::vector<SampleSource> parts;
  std::vector<int64_t> rows;  // of each part
  int64_t left = options_.samples > 0 ? options_.samples : INT64_MAX;
  for (const Group& group : settled.groups_) {
    if (left == 0) break;
    auto own = SizesOf(group, inputs);
    // CutSamples says what is wrong with a group that does not fit.
    const bool fits = own || parts.empty();
    const auto same = fits ? std::ranges::find(sizes, own) : sizes.begin();
    const auto part = static_cast<size_t>(same - sizes.begin());
    if (part == parts.size()) {
      parts.push_back(settled);
      parts.back().groups_.clear();
      sizes.push_back(own);
      rows.push_back(0);
    }
    parts[part].groups_.push_back(group);
    const ArrayPtr first = ArrayOf(group, inputs, 0);
    const bool counts = first && first->shape().size() == inputs[0].extents.size();
    const int64_t used = std::min(left, counts && !first->shape().empty() ? first->shape()[0] : 1);
    rows[part] += used;
    left -= used;
  }
  if (parts.size() < 2) return {*this};
  for (size_t part = 0; part < parts.size(); ++part) {
    if (options_.samples > 0) parts[part].options_.samples = rows[part];
  }
  return parts;
}

}  // namespace octavo::data
