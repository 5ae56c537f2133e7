// Closed sets of names that a job may report, for those who count them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace octavo::job {

std::vector<std::string> NumericsModes();
// In pipeline order.
std::vector<std::string> PassNames();
// Rule and effect, each pair once.
std::vector<std::pair<std::string, std::string>> Rewrites();
// Kernel and the instruction set that it uses on this machine, each pair once.
std::vector<std::pair<std::string, std::string>> Kernels();

}  // namespace octavo::job
