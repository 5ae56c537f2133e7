// Draws the distributions of one value: what floats and integers it takes, how far they differ.
#pragma once

#include <string>

#include "core/report/html/text.h"

namespace octavo::report::html {

// Both SVGs are empty where the figures are absent.  `index` makes the ids unique in the page.

// Float against integer counts over the value's range, with the ends of what its type can hold.
std::string HistogramPlot(const Json& value, size_t index);
// The share of elements that are 0, 1, .. 15 and more quantization steps away.
std::string StepsPlot(const Json& value, size_t index);

}  // namespace octavo::report::html
