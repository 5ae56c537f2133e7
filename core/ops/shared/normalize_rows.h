// SPDX-License-Identifier: Apache-2.0
// Arithmetic of normalizations: mean and variance of a run of elements, summed in double.
#pragma once

#include <cmath>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {

// Attributes of the ops that normalize over the axes from `axis` on.
inline constexpr ir::AttrSpec kTrailingAttributes[] = {
    {"axis", ir::AttrKind::kInt},
    {"epsilon", ir::AttrKind::kFloat},
    {"stash_type", ir::AttrKind::kInt},
};

// Returns the first normalized axis; the operands after x must broadcast to the axes from it on.
inline Result<int> InferTrailing(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::Shape& x = context.shape(0);
  const auto rank = static_cast<int>(x.size());
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", -1), rank));
  const ir::Shape row(x.begin() + axis, x.end());
  for (size_t i = 1; i < context.node().inputs.size(); ++i) {
    if (context.Has(i) && Broadcast(context.shape(i), row) != row) {
      return context.Invalid("input {} of shape {} does not broadcast to {}", i,
                             ir::ToString(context.shape(i)), ir::ToString(row));
    }
  }
  return axis;
}

struct Moments {
  double mean = 0;
  double inverse_deviation = 0;  // 1 / sqrt(variance + epsilon)
};

// The sum of of(i) for i < count, in a fixed order that vectors of any width can follow: lane l of
// sixteen adds the elements i = l modulo 16 in order, then a tree of halves adds the lanes.  A
// single accumulator would serialize the additions.
template <class Of>
double LaneSum(int64_t count, const Of& of) {
  constexpr int kLanes = 16;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += of(i + l);
  }
  for (int l = 0; i + l < count; ++l) lanes[l] += of(i + l);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

template <class T>
Moments MomentsOf(const T* values, int64_t count, double epsilon) {
  Moments moments;
  const double length = static_cast<double>(count);
  moments.mean = LaneSum(count, [&](int64_t i) { return static_cast<double>(values[i]); }) / length;
  const double squares = LaneSum(count, [&](int64_t i) {
    const double off = values[i] - moments.mean;
    return off * off;
  });
  moments.inverse_deviation = 1 / std::sqrt(squares / length + epsilon);
  return moments;
}

template <class T>
double InverseRootMeanSquare(const T* values, int64_t count, double epsilon) {
  const double squares = LaneSum(count, [&](int64_t i) {
    const double value = values[i];
    return value * value;
  });
  return 1 / std::sqrt(squares / static_cast<double>(count) + epsilon);
}

}  // namespace octavo::ops
