// SPDX-License-Identifier: Apache-2.0
// The error of one value against the float model, over all samples.  Sums accumulate in double in
// one fixed order, so they are equal for any number of threads.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/base/parallel.h"
#include "core/report/pairs.h"
#include "octavo/v1/report.pb.h"

namespace octavo::report {

// Accumulates batches of one value.
class ValueStats {
 public:
  // `type` is the quantized type of the compared values, or the float type.  `with_top1`, for class
  // scores, counts the rows along the last axis whose largest element has the same index in both
  // tensors.
  ValueStats(const ir::Type& type, bool with_top1);

  // `baseline` is f32; `actual` holds quantized values of `type`, or f32.  Their shapes are equal.
  void Add(const ir::Tensor& baseline, const ir::Tensor& actual, ThreadPool& pool);

  // Sets all figures except `name`, `local_sqnr_db`, `calibration_sqnr_db` and `drift`.  Undefined
  // figures (no noise, no signal, no quantization, a result that is not finite where the baseline
  // is) stay unset.
  v1::ValueNumerics Finish() const;

  // Elements at a bound of the type whose unclamped quantized value lies beyond the bound.
  int64_t saturated() const { return type_.quant ? saturated_ : 0; }

 private:
  void Cut();
  void SetErrors(v1::ValueNumerics& figures) const;
  void SetQuantization(v1::ValueNumerics& figures) const;
  void SetWorstChannel(v1::ValueNumerics& figures) const;
  void SetHistogram(v1::ValueHistogram& histogram) const;
  void AddCounts(const PairCounts& counts);
  void AddTop1(const ir::Tensor& baseline, const ir::Tensor& actual);
  void SetHistogramRange(const ir::Tensor& baseline);

  ir::Type type_;
  bool with_top1_;
  std::vector<ElementRange> ranges_ = {};
  std::vector<int64_t> channels_ = {};  // of each range, or -1
  PairSums sums_ = {};
  std::array<int64_t, kHistogramBins + 1> baseline_bins_ = {}, actual_bins_ = {};
  std::array<int64_t, 256> bytes_ = {};  // by stored byte, if CountsBytes
  std::array<int64_t, kStepBins + 1> steps_ = {};
  int64_t saturated_ = 0, max_steps_ = 0;
  int channel_axis_ = -1;
  std::vector<double> channel_signal_, channel_noise_;
  int64_t rows_ = 0, top1_matches_ = 0;
  bool compared_ = false;
  bool has_range_ = false;
  double low_ = 0, high_ = 0;
};

// Signal to quantization noise ratio in dB; empty if signal or noise is zero.
std::optional<double> SqnrDb(double signal, double noise);

}  // namespace octavo::report
