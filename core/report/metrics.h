// Figures of one value over all samples: how far its codes are from the float reference.  Sums
// are pooled in double in the order of the samples, so they are equal for any thread count.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/tensor.h"

namespace octavo::report {

inline constexpr int kStepBins = 17;  // 0..15 steps exactly, then more
inline constexpr int kHistogramBins = 64;

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
  void Add(const ir::Tensor& reference, const ir::Tensor& actual);
  Figures Finish() const;

 private:
  void AddElement(double reference, double actual, int64_t channel);
  void AddCode(float reference, int64_t code, int64_t channel);
  void AddTop1(const ir::Tensor& reference, const ir::Tensor& actual);
  void SetHistogramRange(const ir::Tensor& reference);
  int BinOf(double value) const;

  ir::Type type_;
  bool with_top1_;
  int64_t count_ = 0;
  double signal_ = 0, noise_ = 0, actual_energy_ = 0, dot_ = 0, max_abs_ = 0, sum_abs_ = 0;
  int64_t max_steps_ = 0, saturated_ = 0;
  std::array<int64_t, kStepBins> steps_ = {};
  int channel_axis_ = -1;
  std::vector<double> channel_signal_, channel_noise_;
  int64_t rows_ = 0, rows_alike_ = 0;
  bool has_range_ = false;
  double low_ = 0, high_ = 0;
  std::array<int64_t, kHistogramBins> float_histogram_ = {}, integer_histogram_ = {};
};

// Signal to quantization noise in dB; empty where there is no signal or no noise.
std::optional<double> SqnrDb(double signal, double noise);

}  // namespace octavo::report
