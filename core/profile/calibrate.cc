// SPDX-License-Identifier: Apache-2.0
// Ranges from histograms: by percentile, by mean squared error or by relative entropy.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/profile/choose_params.h"

namespace octavo::profile {
namespace {

// The candidates of mse and entropy: shares of the full range from 64/64 down to 1/64.
constexpr int kCandidates = 64;
constexpr std::string_view kPercentile = "percentile:";

double CenterOf(const Histogram& histogram, size_t bin) {
  const double center = histogram.low() + (static_cast<double>(bin) + 0.5) * histogram.width();
  return std::clamp(center, double{histogram.min()}, double{histogram.max()});
}

// Cuts half of the excluded share (100 - P) on each side, in whole bins.
CalibratedRange Percentile(const Histogram& histogram, double percentile) {
  const double allowed = static_cast<double>(histogram.total()) * (100 - percentile) / 200;
  const std::vector<int64_t>& counts = histogram.counts();
  size_t first = 0;
  size_t last = counts.size() - 1;
  for (double cut = 0; first < last && cut + static_cast<double>(counts[first]) <= allowed;) {
    cut += static_cast<double>(counts[first++]);
  }
  for (double cut = 0; last > first && cut + static_cast<double>(counts[last]) <= allowed;) {
    cut += static_cast<double>(counts[last--]);
  }
  const double low = histogram.low() + static_cast<double>(first) * histogram.width();
  const double high = histogram.low() + static_cast<double>(last + 1) * histogram.width();
  return {std::max(histogram.min(), static_cast<float>(low)),
          std::min(histogram.max(), static_cast<float>(high)), false};
}

// The total squared error if the values were stored with these parameters.
class SquaredError {
 public:
  explicit SquaredError(const Histogram& histogram) {
    for (size_t k = 0; k < histogram.counts().size(); ++k) {
      if (histogram.counts()[k] == 0) continue;
      bins_.push_back({CenterOf(histogram, k), static_cast<double>(histogram.counts()[k])});
    }
  }

  double operator()(const Params& params, ir::IntegerRange integers) const {
    double sum = 0;
    const double scale = params.scale;
    for (const auto& [x, count] : bins_) {
      const double code =
          std::clamp(std::nearbyint(x / scale) + params.zero_point,
                     static_cast<double>(integers.min), static_cast<double>(integers.max));
      const double error = x - (code - params.zero_point) * scale;
      sum += count * error * error;
    }
    return sum;
  }

 private:
  struct Bin {
    double center = 0, count = 0;
  };
  std::vector<Bin> bins_;  // the bins that are not empty
};

// log2 by a fixed expression, so that the choice is the same on every machine: the exponent plus an
// odd series in t = (m - 1) / (m + 1), |t| <= 0.1716; the truncation error is below 1e-14.
double Log2(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double t = (m - 1) / (m + 1);
  const double t2 = t * t;
  double sum = 0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;
  return exponent + 2 * t * sum * 1.4426950408889634;
}

// Counts without the bin of 0: what a Relu cuts off is exact in every range, and so many zeros
// would hide all else.
std::vector<double> CountsWithoutZero(const Histogram& histogram) {
  std::vector<double> counts(histogram.counts().begin(), histogram.counts().end());
  const double zero = std::floor(-histogram.low() / histogram.width());
  if (zero >= 0 && zero < static_cast<double>(counts.size())) counts[static_cast<size_t>(zero)] = 0;
  return counts;
}

// The relative entropy of the quantized and the observed distribution.  Bins that round to the same
// integer are merged; the integer's mass is spread evenly over those of its bins that are not
// empty.
double Divergence(const Histogram& histogram, const Params& params, ir::IntegerRange integers) {
  const std::vector<double> counts = CountsWithoutZero(histogram);
  const size_t bins = counts.size();
  std::vector<int64_t> integer_of(bins);
  const auto size = static_cast<size_t>(integers.max - integers.min + 1);
  std::vector<double> mass(size), occupied(size), clipped(bins);
  size_t first = bins;
  size_t last = 0;
  const double low = (static_cast<double>(integers.min) - 0.5 - params.zero_point) * params.scale;
  const double high = (static_cast<double>(integers.max) + 0.5 - params.zero_point) * params.scale;
  for (size_t k = 0; k < bins; ++k) {
    const double x = CenterOf(histogram, k);
    if (x < low || x > high) continue;
    first = std::min(first, k);
    last = std::max(last, k);
  }
  if (first == bins) return INFINITY;
  // Add clipped counts to the outermost bins in the range.
  for (size_t k = 0; k < bins; ++k) {
    clipped[std::clamp(k, first, last)] += counts[k];
  }
  for (size_t k = first; k <= last; ++k) {
    const double code =
        std::clamp(std::nearbyint(CenterOf(histogram, k) / params.scale) + params.zero_point,
                   static_cast<double>(integers.min), static_cast<double>(integers.max));
    integer_of[k] = static_cast<int64_t>(code) - integers.min;
    mass[integer_of[k]] += counts[k];
    occupied[integer_of[k]] += clipped[k] > 0;
  }
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double divergence = 0;
  for (size_t k = first; k <= last; ++k) {
    if (clipped[k] == 0) continue;
    // A bin that holds only clipped values has no mass in the quantized distribution: use a floor
    // instead of zero.
    const double share = mass[integer_of[k]] / occupied[integer_of[k]];
    const double q = std::max(share, 1e-4) / total;
    const double p = clipped[k] / total;
    divergence += p * Log2(p / q);
  }
  return divergence;
}

struct Candidate {
  CalibratedRange range = {};
  Params params = {};
  double squared_error = 0;
};

// From the widest to the narrowest.
std::vector<Candidate> CandidatesOf(const Histogram& histogram, const Scheme& scheme) {
  const SquaredError error(histogram);
  std::vector<Candidate> candidates;
  for (int k = kCandidates; k >= 1; --k) {
    const float share = static_cast<float>(k) / kCandidates;
    Candidate& candidate = candidates.emplace_back();
    candidate.range = {histogram.min() * share, histogram.max() * share, false};
    candidate.params = ChooseParams(candidate.range.min, candidate.range.max, scheme);
    candidate.squared_error = error(candidate.params, IntegersOf(scheme));
  }
  return candidates;
}

const Candidate& LeastSquares(const std::vector<Candidate>& candidates) {
  return *std::ranges::min_element(candidates, {}, &Candidate::squared_error);
}

double ShareInside(const Histogram& histogram, const CalibratedRange& range) {
  double inside = 0;
  for (size_t k = 0; k < histogram.counts().size(); ++k) {
    const double x = CenterOf(histogram, k);
    if (x >= range.min && x <= range.max) inside += static_cast<double>(histogram.counts()[k]);
  }
  return inside / static_cast<double>(histogram.total());
}

// The least divergence among the ranges that lose little: alone, it chooses ranges far too small
// for the values after a Relu.
CalibratedRange LeastDivergence(const Histogram& histogram, const Scheme& scheme) {
  constexpr double kInside = 0.9999, kMostError = 2;
  const std::vector<Candidate> candidates = CandidatesOf(histogram, scheme);
  const Candidate* best = &LeastSquares(candidates);
  const double most_error = kMostError * best->squared_error;
  double least = INFINITY;
  for (const Candidate& candidate : candidates) {
    if (candidate.squared_error > most_error) continue;
    if (ShareInside(histogram, candidate.range) < kInside) continue;
    const double found = Divergence(histogram, candidate.params, IntegersOf(scheme));
    if (found >= least) continue;
    least = found;
    best = &candidate;
  }
  return best->range;
}

}  // namespace

std::string Name(const Calibration& calibration) {
  switch (calibration.method) {
    case Calibration::Method::kMinMax:
      return "minmax";
    case Calibration::Method::kPercentile:
      return fmt::format("{}{}", kPercentile, calibration.percentile);
    case Calibration::Method::kMse:
      return "mse";
    case Calibration::Method::kEntropy:
      return "entropy";
  }
  return "";
}

std::optional<Calibration> ParseCalibration(std::string_view text) {
  using Method = Calibration::Method;
  if (text == "minmax") return Calibration{};
  if (text == "mse") return Calibration{Method::kMse};
  if (text == "entropy") return Calibration{Method::kEntropy};
  if (!text.starts_with(kPercentile)) return std::nullopt;
  const std::string_view number = text.substr(kPercentile.size());
  const char* end = number.data() + number.size();
  double percentile = 0;
  const auto [rest, error] = std::from_chars(number.data(), end, percentile);
  if (error != std::errc() || rest != end || !(percentile > 50 && percentile <= 100)) {
    return std::nullopt;
  }
  return Calibration{Method::kPercentile, percentile};
}

CalibratedRange Calibrate(const Entry& entry, const Calibration& calibration,
                          const Scheme& scheme) {
  using Method = Calibration::Method;
  const CalibratedRange whole{entry.min, entry.max, false};
  if (calibration.method == Method::kMinMax) return whole;
  if (!entry.histogram || entry.histogram->empty()) {
    return CalibratedRange{entry.min, entry.max, true};
  }
  switch (calibration.method) {
    case Method::kMinMax:
      break;
    case Method::kPercentile:
      return Percentile(*entry.histogram, calibration.percentile);
    case Method::kMse:
      return LeastSquares(CandidatesOf(*entry.histogram, scheme)).range;
    case Method::kEntropy:
      return LeastDivergence(*entry.histogram, scheme);
  }
  return whole;
}

}  // namespace octavo::profile
