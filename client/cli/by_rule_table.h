// SPDX-License-Identifier: Apache-2.0
// Prints the `by_rule` part of a report as a table: the effect of each rewrite rule on the outputs.
#pragma once

#include <string>
#include <string_view>

namespace octavo::cli {

// Prints one line per rule and changed output, in order of application, then the SQNR of each
// output before the first rule and after the last.
std::string ByRuleTable(std::string_view report_json);

}  // namespace octavo::cli
