// SPDX-License-Identifier: Apache-2.0
// The values of a report by same-scale group, as the page lists them.
#pragma once

#include <vector>

#include "core/report/html/text.h"

namespace octavo::report::html {

// The indices of values with one type; the first in order of computation stands for all.
using Group = std::vector<int>;

// The groups by what a reader should look at first: by falling error share; without shares by
// rising local SQNR, then by rising SQNR; those without figures last.  Values without a group are
// groups of their own.
std::vector<Group> GroupsOf(const Values& values);

std::optional<double> ErrorShare(const v1::ValueNumerics& value);

}  // namespace octavo::report::html
