// SPDX-License-Identifier: Apache-2.0
// Whether the float values of an evaluation leave the ranges that calibration found.
#pragma once

#include <limits>
#include <map>
#include <string>

#include "core/base/parallel.h"
#include "core/ir/tensor.h"
#include "octavo/v1/report.pb.h"

namespace octavo::report {

// The least and the largest element of values in calibration, by name.
using CalibratedRanges = std::map<std::string, ir::Range, std::less<>>;

// Of one value, over all samples.  The result is the same for any number of threads.
class DriftCounter {
 public:
  explicit DriftCounter(const ir::Range& range) : range_(range) {}

  // `values` is f32.  Elements that are not finite are within every range.
  void Add(const ir::Tensor& values, ThreadPool& pool);

  v1::Drift Finish() const;

 private:
  ir::Range range_;
  int64_t elements_ = 0, outside_ = 0;
  float low_ = std::numeric_limits<float>::infinity();  // of the elements outside
  float high_ = -std::numeric_limits<float>::infinity();
};

}  // namespace octavo::report
