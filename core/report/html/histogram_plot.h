// SPDX-License-Identifier: Apache-2.0
// Plots a value's distributions in float and in integers, and their differences.
#pragma once

#include <string>

#include "core/report/html/text.h"

namespace octavo::report::html {

// Both return an empty text if the figures are missing.  `index` makes ids unique in the page.

// Float and integer counts over the value's range, and the bounds of its type.
std::string HistogramPlot(const v1::ValueNumerics& value, int index);
// The share of elements that are 0, 1, .., 15 or more quantization steps off.
std::string StepsPlot(const v1::ValueNumerics& value, int index);

}  // namespace octavo::report::html
