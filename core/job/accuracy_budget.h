// SPDX-License-Identifier: Apache-2.0
// --accuracy-budget: which values get 16-bit integers, so that every output has the SQNR asked for.
#pragma once

#include <string>
#include <vector>

#include "core/job/trial.h"

namespace octavo::job {

struct BudgetChoice {
  v1::AccuracyBudget figures = {};
  std::vector<std::string> names = {};  // of values, for --int16
};

// Ranks the groups of values that share a scale by the error of the outputs that each causes alone,
// per element, and gives 16 bits to the first 1, 3, 7, .. of them, groups of at most half of all
// elements. Each step is measured as a whole on the samples that evaluate, because errors do not
// add up: one that does not raise the SQNR is undone.  From the last step only as many groups as it
// takes are kept, and then those that the outputs can do without return to 8 bits, the least useful
// first.
Result<BudgetChoice> ChooseWithinBudget(const Trial& trial, const Profiled& profiled);

}  // namespace octavo::job
