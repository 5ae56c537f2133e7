// SPDX-License-Identifier: Apache-2.0
// How a range is computed from the observed values of an activation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace octavo::profile {

struct Calibration {
  enum class Method { kMinMax, kPercentile, kMse, kEntropy };
  Method method = Method::kMinMax;
  double percentile = 100;  // of kPercentile: in (50, 100]

  bool operator==(const Calibration&) const = default;
};

// "minmax", "percentile:99.9", "mse", "entropy".
std::string Name(const Calibration& calibration);
std::optional<Calibration> ParseCalibration(std::string_view text);
inline constexpr std::string_view kCalibrationMustBe =
    "minmax, percentile:P with P above 50 and at most 100, mse or entropy";

}  // namespace octavo::profile
