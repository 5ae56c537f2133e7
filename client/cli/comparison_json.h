// SPDX-License-Identifier: Apache-2.0
// A comparison as an object for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "client/cli/comparison.h"

namespace octavo::cli {

// What the tables show, with all rows, all outputs and sizes, and figures as the reports have them.
nlohmann::ordered_json ComparisonJson(const Comparison& comparison);

}  // namespace octavo::cli
