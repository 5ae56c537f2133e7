// SPDX-License-Identifier: Apache-2.0
#include "core/report/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace octavo::report {
namespace {

// The channel axis: axis 1 of activations.  Vectors and matrices have no channels to report.
int ChannelAxis(const ir::Shape& shape) { return shape.size() >= 3 ? 1 : -1; }

// The index of the first largest element; -1 if one is NaN, so that there is no largest.
int64_t ArgMax(const ir::Tensor& tensor, int64_t begin, int64_t count) {
  int64_t best = 0;
  double most = tensor.FloatAt(begin);
  for (int64_t i = 0; i < count; ++i) {
    const double value = tensor.FloatAt(begin + i);
    if (std::isnan(value)) return -1;
    if (value <= most) continue;
    best = i;
    most = value;
  }
  return best;
}

}  // namespace

std::optional<double> SqnrDb(double signal, double noise) {
  if (!(signal > 0) || !(noise > 0) || !std::isfinite(signal) || !std::isfinite(noise)) {
    return std::nullopt;
  }
  // Round to 1e-6 dB, because the last bit of libm's log10 differs between machines.
  return std::nearbyint(10 * std::log10(signal / noise) * 1e6) / 1e6;
}

ValueStats::ValueStats(const ir::Type& type, bool with_top1)
    : type_(type), with_top1_(with_top1), channel_axis_(ChannelAxis(type.shape)) {
  if (channel_axis_ >= 0) {
    channel_signal_.assign(type.shape[channel_axis_], 0);
    channel_noise_.assign(type.shape[channel_axis_], 0);
  }
  if (type_.quant && type_.quant->per_tensor()) {
    const ir::IntegerRange range = ir::IntegerRangeOf(type_.dtype);
    const double scale = type_.quant->scale();
    low_ = static_cast<double>(range.min - type_.quant->zero_point()) * scale;
    high_ = static_cast<double>(range.max - type_.quant->zero_point()) * scale;
    has_range_ = true;
  }
}

void ValueStats::SetHistogramRange(const ir::Tensor& baseline) {
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  for (const float value : baseline.values<float>()) {
    if (!std::isfinite(value)) continue;
    low_ = std::min(low_, double{value});
    high_ = std::max(high_, double{value});
  }
  if (!(low_ < high_)) {
    low_ = std::isfinite(low_) ? low_ - 0.5 : -0.5;
    high_ = low_ + 1;
  }
  has_range_ = true;
}

void ValueStats::Cut() {
  const ir::Shape strides = ir::StridesOf(type_.shape);
  const int64_t size = ir::NumElements(type_.shape);
  ranges_ = SplitEvenly(type_, channel_axis_ >= 0 ? strides[channel_axis_] : size);
  for (const ElementRange& range : ranges_) {
    channels_.push_back(
        channel_axis_ < 0 ? -1 : range.begin / strides[channel_axis_] % type_.shape[channel_axis_]);
  }
}

void ValueStats::Add(const ir::Tensor& baseline, const ir::Tensor& actual, ThreadPool& pool) {
  compared_ = true;
  if (!has_range_) SetHistogramRange(baseline);
  if (ranges_.empty()) Cut();
  const auto count = static_cast<int64_t>(ranges_.size());
  if (count == 0) return;
  std::vector<PairSums> sums(ranges_.size());
  std::mutex mutex;
  // A task covers about kPairGrain elements.
  const int64_t grain = std::max<int64_t>(1, kPairGrain / ranges_[0].count);
  pool.For(count, grain, [&](int64_t begin, int64_t end) {
    PairCounts counts;
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = SumAndCountPairs(baseline, actual, type_, ranges_[i], {low_, high_}, counts);
    }
    const std::lock_guard lock(mutex);
    AddCounts(counts);
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    sums_.Add(sums[i]);
    const int64_t channel = channels_[i];
    if (channel < 0) continue;
    channel_signal_[channel] += sums[i].signal;
    channel_noise_[channel] += sums[i].noise;
  }
  if (with_top1_) AddTop1(baseline, actual);
}

void ValueStats::AddCounts(const PairCounts& counts) {
  counts.baseline.AddTo(baseline_bins_);
  counts.actual.AddTo(actual_bins_);
  counts.bytes.AddTo(bytes_);
  counts.steps.AddTo(steps_);
  saturated_ += counts.saturated;
  max_steps_ = std::max(max_steps_, counts.max_steps);
}

void ValueStats::AddTop1(const ir::Tensor& baseline, const ir::Tensor& actual) {
  if (type_.shape.empty() || type_.shape.back() < 2) return;
  const int64_t width = type_.shape.back();
  for (int64_t begin = 0; begin < baseline.size(); begin += width) {
    ++rows_;
    const int64_t expected = ArgMax(baseline, begin, width);
    top1_matches_ += expected >= 0 && expected == ArgMax(actual, begin, width);
  }
}

v1::ValueNumerics ValueStats::Finish() const {
  v1::ValueNumerics figures;
  SetErrors(figures);
  SetQuantization(figures);
  SetWorstChannel(figures);
  SetHistogram(*figures.mutable_histogram());
  return figures;
}

void ValueStats::SetErrors(v1::ValueNumerics& figures) const {
  figures.set_exact(compared_ && sums_.noise == 0 && sums_.unequal == 0);
  const bool defined = sums_.invalid == 0;
  const auto sqnr = SqnrDb(sums_.signal, sums_.noise);
  if (defined && sqnr) figures.set_sqnr_db(*sqnr);
  if (defined && sums_.signal > 0 && sums_.energy > 0) {
    figures.set_cosine(sums_.dot / (std::sqrt(sums_.signal) * std::sqrt(sums_.energy)));
  }
  if (sums_.count > 0) {
    figures.set_max_abs(sums_.max_abs);
    figures.set_mean_abs(sums_.sum_abs / static_cast<double>(sums_.count));
  }
  if (rows_ > 0) {
    figures.set_top1_agreement(static_cast<double>(top1_matches_) / static_cast<double>(rows_));
    figures.set_classes(type_.shape.back());
  }
}

void ValueStats::SetQuantization(v1::ValueNumerics& figures) const {
  figures.set_dtype(std::string(ir::Name(type_.dtype)));
  figures.mutable_steps_histogram()->Resize(kStepBins, 0);
  if (!type_.quant) return;
  if (type_.quant->per_tensor()) {
    figures.set_scale(type_.quant->scale());
    figures.set_zero_point(type_.quant->zero_point());
  } else {
    figures.mutable_scales()->Add(type_.quant->scales.begin(), type_.quant->scales.end());
    figures.mutable_zero_points()->Add(type_.quant->zero_points.begin(),
                                       type_.quant->zero_points.end());
  }
  if (sums_.count == 0) return;
  figures.set_max_steps(max_steps_);
  figures.set_saturated_ratio(static_cast<double>(saturated_) / static_cast<double>(sums_.count));
  std::copy_n(steps_.begin(), kStepBins, figures.mutable_steps_histogram()->begin());
}

void ValueStats::SetWorstChannel(v1::ValueNumerics& figures) const {
  for (size_t c = 0; c < channel_noise_.size(); ++c) {
    const auto sqnr = SqnrDb(channel_signal_[c], channel_noise_[c]);
    if (!sqnr) continue;
    if (figures.has_worst_channel() && figures.worst_channel().sqnr_db() <= *sqnr) continue;
    v1::WorstChannel& worst = *figures.mutable_worst_channel();
    worst.set_axis(channel_axis_);
    worst.set_index(static_cast<int64_t>(c));
    worst.set_sqnr_db(*sqnr);
  }
}

void ValueStats::SetHistogram(v1::ValueHistogram& histogram) const {
  histogram.set_low(low_);
  histogram.set_high(high_);
  auto actual_bins = actual_bins_;
  if (CountsBytes(type_)) AddBytes(type_, {low_, high_}, bytes_, actual_bins);
  // Omit the bin for pairs that are not finite.
  histogram.mutable_float_()->Add(baseline_bins_.begin(), baseline_bins_.begin() + kHistogramBins);
  histogram.mutable_integer()->Add(actual_bins.begin(), actual_bins.begin() + kHistogramBins);
}

}  // namespace octavo::report
