// SPDX-License-Identifier: Apache-2.0
// What round-weights did to a layer's weights; the report has an entry for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::passes {

struct WeightRounding {
  std::string node = {}, op = {};
  std::string rounding = {};  // the name of the option's choice that was applied
  std::string reason = {};    // why not the one that was asked for; empty if it is
  int64_t elements = 0;
  int64_t changed = 0;  // weights that are not their nearest integer
  // The mean squared error of the layer's results, summed over output channels: with nearest
  // integers, and as the weights are.  Empty without moments.
  std::optional<double> objective_before = {}, objective_after = {};
  std::optional<double> max_bias_change = {};  // in real units; empty if biases are as they were
  int64_t columns = 0;                         // that the moments are of
  int64_t skipped_columns = 0;                 // that were not finite
};

}  // namespace octavo::passes
