// The page's style sheet: light and dark by the reader's setting, also fit to be printed.
#pragma once

#include <string_view>

namespace octavo::report::html {

extern const std::string_view kStyle;

}  // namespace octavo::report::html
