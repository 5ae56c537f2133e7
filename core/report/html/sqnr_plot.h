// SPDX-License-Identifier: Apache-2.0
// Plots the SQNR of every value along the network.
#pragma once

#include <string>

#include "core/report/html/text.h"

namespace octavo::report::html {

// An SVG of the accumulated and the local SQNR of the report's values, in their order; an undefined
// figure is a gap.  Empty if no value has either.
std::string SqnrPlot(const Values& values);

}  // namespace octavo::report::html
