// The arithmetic that the normalizations share: mean and variance of a run of elements, in double
// in order.
#pragma once

#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {

struct Moments {
  double mean = 0;
  double inverse_deviation = 0;  // 1 / sqrt(variance + epsilon)
};

template <class T>
Moments MomentsOf(const T* values, int64_t count, double epsilon) {
  Moments moments;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += values[i];
  moments.mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double off = values[i] - moments.mean;
    squares += off * off;
  }
  moments.inverse_deviation = 1 / std::sqrt(squares / static_cast<double>(count) + epsilon);
  return moments;
}

}  // namespace octavo::ops
