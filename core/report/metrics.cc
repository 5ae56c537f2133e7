#include "core/report/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace octavo::report {
namespace {

// The channels of an activation lie along axis 1; a vector has none worth naming.
int ChannelAxis(const ir::Shape& shape) { return shape.size() >= 3 ? 1 : -1; }

int64_t ArgMax(const ir::Tensor& tensor, int64_t begin, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (tensor.FloatAt(begin + i) > tensor.FloatAt(begin + best)) best = i;
  }
  return best;
}

}  // namespace

std::optional<double> SqnrDb(double signal, double noise) {
  if (!(signal > 0) || !(noise > 0) || !std::isfinite(signal) || !std::isfinite(noise)) {
    return std::nullopt;
  }
  // Rounded to a millionth of a dB: libm's log10 may differ in its last bit between machines.
  return std::nearbyint(10 * std::log10(signal / noise) * 1e6) / 1e6;
}

ValueStats::ValueStats(const ir::Type& type, bool with_top1)
    : type_(type), with_top1_(with_top1), channel_axis_(ChannelAxis(type.shape)) {
  if (channel_axis_ >= 0) {
    channel_signal_.assign(type.shape[channel_axis_], 0);
    channel_noise_.assign(type.shape[channel_axis_], 0);
  }
  if (type_.quant && type_.quant->per_tensor()) {
    const ir::CodeRange codes = ir::CodesOf(type_.dtype);
    const double scale = type_.quant->scale();
    low_ = static_cast<double>(codes.min - type_.quant->zero_point()) * scale;
    high_ = static_cast<double>(codes.max - type_.quant->zero_point()) * scale;
    has_range_ = true;
  }
}

void ValueStats::SetHistogramRange(const ir::Tensor& reference) {
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  for (const float value : reference.values<float>()) {
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
  stretches_ = CutEvenly(type_, channel_axis_ >= 0 ? strides[channel_axis_] : size);
  for (const Stretch& stretch : stretches_) {
    channels_.push_back(channel_axis_ < 0
                            ? -1
                            : stretch.begin / strides[channel_axis_] % type_.shape[channel_axis_]);
  }
}

void ValueStats::Add(const ir::Tensor& reference, const ir::Tensor& actual, ThreadPool& pool) {
  if (!has_range_) SetHistogramRange(reference);
  if (stretches_.empty()) Cut();
  const auto count = static_cast<int64_t>(stretches_.size());
  if (count == 0) return;
  std::vector<PairSums> sums(stretches_.size());
  std::mutex mutex;
  // As many stretches at a time as have about kPieceOfPairs elements.
  const int64_t grain = std::max<int64_t>(1, kPieceOfPairs / stretches_[0].count);
  pool.For(count, grain, [&](int64_t begin, int64_t end) {
    PairCounts counts;
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = SumAndCountPairs(reference, actual, type_, stretches_[i], {low_, high_}, counts);
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
  if (with_top1_) AddTop1(reference, actual);
}

void ValueStats::AddCounts(const PairCounts& counts) {
  counts.reference.AddTo(reference_bins_);
  counts.actual.AddTo(actual_bins_);
  counts.codes.AddTo(codes_);
  counts.steps.AddTo(steps_);
  saturated_ += counts.saturated;
  max_steps_ = std::max(max_steps_, counts.max_steps);
}

void ValueStats::AddTop1(const ir::Tensor& reference, const ir::Tensor& actual) {
  if (type_.shape.empty() || type_.shape.back() < 2) return;
  const int64_t width = type_.shape.back();
  for (int64_t begin = 0; begin < reference.size(); begin += width) {
    ++rows_;
    rows_alike_ += ArgMax(reference, begin, width) == ArgMax(actual, begin, width);
  }
}

Figures ValueStats::Finish() const {
  Figures figures;
  figures.sqnr_db = SqnrDb(sums_.signal, sums_.noise);
  if (sums_.signal > 0 && sums_.energy > 0) {
    figures.cosine = sums_.dot / (std::sqrt(sums_.signal) * std::sqrt(sums_.energy));
  }
  const auto count = static_cast<double>(sums_.count);
  if (sums_.count > 0) {
    figures.max_abs = sums_.max_abs;
    figures.mean_abs = sums_.sum_abs / count;
  }
  if (type_.quant && sums_.count > 0) {
    figures.max_steps = max_steps_;
    figures.saturated_ratio = static_cast<double>(saturated_) / count;
    figures.saturated = saturated_;
    std::copy_n(steps_.begin(), kStepBins, figures.steps.begin());
  }
  for (size_t c = 0; c < channel_noise_.size(); ++c) {
    const auto sqnr = SqnrDb(channel_signal_[c], channel_noise_[c]);
    if (!sqnr) continue;
    if (figures.worst_channel && *figures.worst_channel->sqnr_db <= *sqnr) continue;
    figures.worst_channel = {channel_axis_, static_cast<int64_t>(c), sqnr};
  }
  if (rows_ > 0) {
    figures.top1_agreement = static_cast<double>(rows_alike_) / static_cast<double>(rows_);
  }
  figures.low = low_;
  figures.high = high_;
  std::copy_n(reference_bins_.begin(), kHistogramBins, figures.float_histogram.begin());
  auto actual_bins = actual_bins_;
  if (CountsCodes(type_)) AddCodes(type_, {low_, high_}, codes_, actual_bins);
  std::copy_n(actual_bins.begin(), kHistogramBins, figures.integer_histogram.begin());
  return figures;
}

}  // namespace octavo::report
