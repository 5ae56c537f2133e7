// SPDX-License-Identifier: Apache-2.0
// Prints a comparison as tables of what differs.
#pragma once

#include <string>

#include "client/cli/comparison.h"

namespace octavo::cli {

enum class ComparisonStyle { kText, kMarkdown };

// Long tables end with the number of rows that they leave out.  Reports are untrusted: text is safe
// for a terminal, Markdown has their names and messages as code.
std::string ComparisonText(const Comparison& comparison, ComparisonStyle style);

}  // namespace octavo::cli
