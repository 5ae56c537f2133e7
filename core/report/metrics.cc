#include "core/report/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

int ValueStats::BinOf(double value) const {
  const double position = (value - low_) / (high_ - low_) * kHistogramBins;
  return static_cast<int>(std::clamp(position, 0.0, kHistogramBins - 1.0));
}

void ValueStats::AddElement(double reference, double actual, int64_t channel) {
  // What is not finite has no place in a sum; the profile counts it.
  if (!std::isfinite(reference) || !std::isfinite(actual)) return;
  const double error = reference - actual;
  signal_ += reference * reference;
  noise_ += error * error;
  actual_energy_ += actual * actual;
  dot_ += reference * actual;
  sum_abs_ += std::fabs(error);
  max_abs_ = std::max(max_abs_, std::fabs(error));
  ++count_;
  if (channel >= 0) {
    channel_signal_[channel] += reference * reference;
    channel_noise_[channel] += error * error;
  }
  ++float_histogram_[BinOf(reference)];
  ++integer_histogram_[BinOf(actual)];
}

void ValueStats::AddCode(float reference, int64_t code, int64_t channel) {
  const ir::Quant& quant = *type_.quant;
  const ir::CodeRange codes = ir::CodesOf(type_.dtype);
  const auto least = static_cast<double>(codes.min);
  const auto most = static_cast<double>(codes.max);
  const int64_t c = quant.per_tensor() ? 0 : channel;
  const double ideal = double{std::nearbyint(reference / quant.scale(c))} + quant.zero_point(c);
  const bool beyond = ideal < least || ideal > most;
  if (beyond && (code == codes.min || code == codes.max)) ++saturated_;
  const double nearest = std::clamp(ideal, least, most);
  const auto steps = static_cast<int64_t>(std::fabs(nearest - static_cast<double>(code)));
  max_steps_ = std::max(max_steps_, steps);
  ++steps_[std::min<int64_t>(steps, kStepBins - 1)];
}

void ValueStats::Add(const ir::Tensor& reference, const ir::Tensor& actual) {
  if (!has_range_) SetHistogramRange(reference);
  const std::span<const float> real = reference.values<float>();
  const ir::Shape strides = ir::StridesOf(type_.shape);
  const auto index_along = [&](int64_t i, int axis) {
    return axis >= 0 ? i / strides[axis] % type_.shape[axis] : -1;
  };
  const int quant_axis = type_.quant && type_.quant->axis ? *type_.quant->axis : -1;
  for (int64_t i = 0; i < reference.size(); ++i) {
    const int64_t channel = index_along(i, channel_axis_);
    if (!type_.quant) {
      AddElement(real[i], actual.FloatAt(i), channel);
      continue;
    }
    const int64_t code = actual.IntAt(i);
    const int64_t c = index_along(i, quant_axis);
    const float value =
        static_cast<float>(code - type_.quant->zero_point(c)) * type_.quant->scale(c);
    AddElement(real[i], value, channel);
    if (!std::isnan(real[i])) AddCode(real[i], code, c);
  }
  if (with_top1_) AddTop1(reference, actual);
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
  figures.sqnr_db = SqnrDb(signal_, noise_);
  if (signal_ > 0 && actual_energy_ > 0) {
    figures.cosine = dot_ / (std::sqrt(signal_) * std::sqrt(actual_energy_));
  }
  if (count_ > 0) {
    figures.max_abs = max_abs_;
    figures.mean_abs = sum_abs_ / static_cast<double>(count_);
  }
  if (type_.quant && count_ > 0) {
    figures.max_steps = max_steps_;
    figures.saturated_ratio = static_cast<double>(saturated_) / static_cast<double>(count_);
    figures.saturated = saturated_;
    figures.steps = steps_;
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
  figures.float_histogram = float_histogram_;
  figures.integer_histogram = integer_histogram_;
  return figures;
}

}  // namespace octavo::report
