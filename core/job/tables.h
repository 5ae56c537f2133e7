// SPDX-License-Identifier: Apache-2.0
// The closed sets of names that a job may report: label values of metrics.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace octavo::job {

std::vector<std::string> NumericsModes();
// The names of all passes, in pipeline order.
std::vector<std::string> PassNames();
// Rule and effect, each pair once.
std::vector<std::pair<std::string, std::string>> Rewrites();
// Kernel and the instruction set that it uses on this machine, each pair once.
std::vector<std::pair<std::string, std::string>> Kernels();

}  // namespace octavo::job
