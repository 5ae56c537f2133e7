// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace octavo::report::html {

// The page's script: sorts and filters the values, copies commands.  The page is complete without
// it; what needs it is hidden or disabled until it runs.
extern const std::string_view kScript;

}  // namespace octavo::report::html
