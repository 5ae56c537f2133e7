// Draws how the signal-to-noise ratio goes along the network.
#pragma once

#include <string>

#include "core/report/html/text.h"

namespace octavo::report::html {

// An SVG of `sqnr_db` and `local_sqnr_db` of the report's values in their order; a null figure is
// a gap.  Empty if no value has either.
std::string SqnrPlot(const Json& values);

}  // namespace octavo::report::html
