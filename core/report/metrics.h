// SPDX-License-Identifier: Apache-2.0
// Figures of one value over all samples: its error against the float model.  Sums are pooled in
// double in one fixed order, so they are equal for any thread count.
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
  // `type`: the quantized type of the compared values, or the float type.  `with_top1`: count the
  // rows along the last axis whose largest element has the same index.
  ValueStats(const ir::Type& type, bool with_top1);

  // `baseline` is f32; `actual` holds quantized values of `type`, or f32; shapes are equal.
  void Add(const ir::Tensor& baseline, const ir::Tensor& actual, ThreadPool& pool);

  // All figures but `name` and `local_sqnr_db`; undefined ones (no noise, no signal, no
  // quantization) are unset.
  v1::ValueNumerics Finish() const;

  // Elements at a bound of the type whose nearest quantized value is beyond it.
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
  std::vector<Stretch> stretches_ = {};
  std::vector<int64_t> channels_ = {};  // of each stretch, or -1
  PairSums sums_ = {};
  std::array<int64_t, kHistogramBins + 1> baseline_bins_ = {}, actual_bins_ = {};
  std::array<int64_t, 256> bytes_ = {};  // by stored byte, if CountsBytes
  std::array<int64_t, kStepBins + 1> steps_ = {};
  int64_t saturated_ = 0, max_steps_ = 0;
  int channel_axis_ = -1;
  std::vector<double> channel_signal_, channel_noise_;
  int64_t rows_ = 0, rows_alike_ = 0;
  bool has_range_ = false;
  double low_ = 0, high_ = 0;
};

// Signal to quantization noise ratio in dB; empty without signal or without noise.
std::optional<double> SqnrDb(double signal, double noise);

}  // namespace octavo::report
