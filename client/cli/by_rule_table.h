// What each law did to the outputs, as a table that a person reads.
#pragma once

#include <string>
#include <string_view>

namespace octavo::cli {

// `report_json` is a report with `by_rule`.  One line for each law and each output that it changed,
// in the order of application; ends with where each output began and where it ended.
std::string ByRuleTable(std::string_view report_json);

}  // namespace octavo::cli
