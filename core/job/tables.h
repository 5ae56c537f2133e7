// SPDX-License-Identifier: Apache-2.0
// The closed sets of names that a job may report; metrics use them as label values.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace octavo::job {

std::vector<std::string> NumericsModes();
// The names of all passes, in pipeline order.
std::vector<std::string> PassNames();
// Rule and effect; each pair once.
std::vector<std::pair<std::string, std::string>> Rewrites();
// Kernel and its instruction set on this machine; each pair once.
std::vector<std::pair<std::string, std::string>> Kernels();

}  // namespace octavo::job
