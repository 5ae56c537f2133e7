// Figures of one value over all samples: how far its codes are from the float reference.  Sums
// are pooled in double in one fixed order, so they are equal for any thread count.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/report/pairs.h"

namespace octavo::report {

// Undefined figures (no noise, no signal, no quantization) are empty.
struct Figures {
  std::optional<double> sqnr_db = {};
  std::optional<double> cosine = {};
  std::optional<double> max_abs = {};
  std::optional<double> mean_abs = {};
  std::optional<int64_t> max_steps = {};
  std::array<int64_t, kStepBins> steps = {};  // all zero without quantization
  std::optional<double> saturated_ratio = {};
  int64_t saturated = 0;
  struct Channel {
    int axis = 0;
    int64_t index = 0;
    std::optional<double> sqnr_db = {};
  };
  std::optional<Channel> worst_channel = {};
  std::optional<double> top1_agreement = {};
  double low = 0, high = 0;
  std::array<int64_t, kHistogramBins> float_histogram = {}, integer_histogram = {};
};

// Accumulates batches of one value.
class ValueStats {
 public:
  // `type`: how the compared codes are read, or the plain float type.  `with_top1`: count where
  // the largest element along the last axis is the same.
  ValueStats(const ir::Type& type, bool with_top1);

  // `reference` is f32; `actual` holds codes of `type`, or f32; shapes agree.
  void Add(const ir::Tensor& reference, const ir::Tensor& actual, ThreadPool& pool);
  Figures Finish() const;

 private:
  void Cut();
  void AddCounts(const PairCounts& counts);
  void AddTop1(const ir::Tensor& reference, const ir::Tensor& actual);
  void SetHistogramRange(const ir::Tensor& reference);

  ir::Type type_;
  bool with_top1_;
  std::vector<Stretch> stretches_ = {};
  std::vector<int64_t> channels_ = {};  // of each stretch; -1: none
  PairSums sums_ = {};
  std::array<int64_t, kHistogramBins + 1> reference_bins_ = {}, actual_bins_ = {};
  std::array<int64_t, 256> codes_ = {};  // of bytes as stored, where CountsCodes
  std::array<int64_t, kStepBins + 1> steps_ = {};
  int64_t saturated_ = 0, max_steps_ = 0;
  int channel_axis_ = -1;
  std::vector<double> channel_signal_, channel_noise_;
  int64_t rows_ = 0, rows_alike_ = 0;
  bool has_range_ = false;
  double low_ = 0, high_ = 0;
};

// Signal to quantization noise in dB; empty where there is no signal or no noise.
std::optional<double> SqnrDb(double signal, double noise);

}  // namespace octavo::report
