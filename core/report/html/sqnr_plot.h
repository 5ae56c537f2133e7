// SPDX-License-Identifier: Apache-2.0
// Plots the SQNR of every value along the network.
#pragma once

#include <string>

#include "core/report/html/text.h"

namespace octavo::report::html {

// Draws an SVG of the accumulated and the local SQNR of the report's values, in their order.  An
// undefined figure leaves a gap.  Returns an empty text if no value has either figure.
std::string SqnrPlot(const Values& values);

}  // namespace octavo::report::html
