// SPDX-License-Identifier: Apache-2.0
// The `by_rule` part of a report as a table: the effect of each rewrite rule on the outputs.
#pragma once

#include <string>
#include <string_view>

namespace octavo::cli {

// One line for each rule and each output that it changed, in the order of application; then the
// SQNR of each output before the first rule and after the last.
std::string ByRuleTable(std::string_view report_json);

}  // namespace octavo::cli
