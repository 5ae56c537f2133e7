// SPDX-License-Identifier: Apache-2.0
// Renders report.html from a report: one self-contained page without scripts or external resources.
// Equal reports give equal bytes.
#pragma once

#include <string>

#include "octavo/v1/report.pb.h"

namespace octavo::report {

// Prints an unset figure as a dash and escapes all text.
std::string RenderHtml(const v1::Report& report);

}  // namespace octavo::report
