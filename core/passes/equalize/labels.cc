// SPDX-License-Identifier: Apache-2.0
#include "core/passes/equalize/labels.h"

#include <algorithm>
#include <cassert>

namespace octavo::passes {
namespace {

// The labels at index 0 of the axis, if all others along it equal them.
bool DropAxis(size_t axis, Labels& labels) {
  const int64_t extent = labels.shape[axis];
  if (extent <= 1) return false;
  const int64_t inner = ir::StridesOf(labels.shape)[axis];
  const auto size = static_cast<int64_t>(labels.ids.size());
  for (int64_t i = 0; i < size; ++i) {
    const int64_t first = i / (inner * extent) * (inner * extent) + i % inner;
    if (labels.ids[i] != labels.ids[first]) return false;
  }
  std::vector<int32_t> ids;
  ids.reserve(size / extent);
  for (int64_t i = 0; i < size; ++i) {
    if (i / inner % extent == 0) ids.push_back(labels.ids[i]);
  }
  labels.shape[axis] = 1;
  labels.ids = std::move(ids);
  return true;
}

}  // namespace

Labels Labels::Along(size_t rank, size_t axis, std::vector<int32_t> ids) {
  Labels labels{ir::Shape(rank, 1), std::move(ids)};
  labels.shape[axis] = static_cast<int64_t>(labels.ids.size());
  DropAxis(axis, labels);
  return labels;
}

Labels Labels::Of(const ir::Shape& shape, std::vector<int32_t> ids) {
  if (ids.empty()) return Uniform(shape.size(), 0);
  Labels labels{shape, std::move(ids)};
  for (size_t axis = shape.size(); axis-- > 0;) DropAxis(axis, labels);
  return labels;
}

bool Labels::VariesOnlyAlong(size_t axis) const {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != axis && VariesAlong(i)) return false;
  }
  return true;
}

std::vector<int32_t> Expand(const Labels& labels, const ir::Shape& shape) {
  assert(shape.size() >= labels.shape.size());
  const ir::Shape own = ir::StridesOf(labels.shape);
  const size_t added = shape.size() - labels.shape.size();
  std::vector<int32_t> ids(static_cast<size_t>(ir::NumElements(shape)));
  ir::Shape index(shape.size(), 0);
  for (int32_t& id : ids) {
    int64_t at = 0;
    for (size_t axis = 0; axis < labels.shape.size(); ++axis) {
      if (labels.VariesAlong(axis)) at += index[axis + added] * own[axis];
    }
    id = labels.ids[static_cast<size_t>(at)];
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return ids;
}

ir::Shape BroadcastShape(const ir::Shape& a, const ir::Shape& b) {
  const ir::Shape& longer = a.size() >= b.size() ? a : b;
  const ir::Shape& other = a.size() >= b.size() ? b : a;
  ir::Shape shape = longer;
  const size_t added = longer.size() - other.size();
  for (size_t axis = 0; axis < other.size(); ++axis) {
    shape[axis + added] = std::max(shape[axis + added], other[axis]);
  }
  return shape;
}

}  // namespace octavo::passes
