// Renders report.html from report.json alone: one self-contained page, without scripts or anything
// that is loaded from elsewhere.  Equal reports give equal bytes.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace octavo::report {

// Any figure may be null or absent and is then shown as a dash.  All text is escaped.
std::string RenderHtml(const nlohmann::json& report);

}  // namespace octavo::report
