// SPDX-License-Identifier: Apache-2.0
// The page's style sheet: light or dark by the browser's setting, with rules for printing.
#pragma once

#include <string_view>

namespace octavo::report::html {

extern const std::string_view kStyle;

}  // namespace octavo::report::html
