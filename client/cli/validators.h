// SPDX-License-Identifier: Apache-2.0
// What a flag's value must be.  CLI11 has validators of its own, whose errors do not say it in
// words.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace octavo::cli {

CLI::Validator WholeNumber(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());
CLI::Validator NumberFrom(double least, double most);
CLI::Validator NumberAbove(double bound);
CLI::Validator OneOf(std::vector<std::string> names);

}  // namespace octavo::cli
