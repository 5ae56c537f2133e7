// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "octavo/v1/report.pb.h"

namespace octavo::job {

// The SQNR of the worst output in dB; infinite if all are exact, and minus infinity where one has
// none.
inline double WorstSqnr(const std::vector<v1::ValueNumerics>& outputs) {
  double worst = std::numeric_limits<double>::infinity();
  for (const v1::ValueNumerics& output : outputs) {
    if (output.exact()) continue;
    worst = std::min(
        worst, output.has_sqnr_db() ? output.sqnr_db() : -std::numeric_limits<double>::infinity());
  }
  return worst;
}

}  // namespace octavo::job
