// SPDX-License-Identifier: Apache-2.0
// The calibration method: how an activation's range follows from its observed values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace octavo::profile {

struct Calibration {
  enum class Method { kMinMax, kPercentile, kMse, kEntropy };
  Method method = Method::kMinMax;
  double percentile = 100;  // for kPercentile, in (50, 100]

  bool operator==(const Calibration&) const = default;
};

// Prints "minmax", "percentile:99.9", "mse" or "entropy".
std::string Name(const Calibration& calibration);
std::optional<Calibration> ParseCalibration(std::string_view text);
inline constexpr std::string_view kCalibrationMustBe =
    "minmax, percentile:P with P above 50 and at most 100, mse or entropy";

}  // namespace octavo::profile
