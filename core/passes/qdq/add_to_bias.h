// SPDX-License-Identifier: Apache-2.0
// The rule add-to-bias: if a vector with one element per channel is added to a product, it becomes
// the product's bias.  TensorFlow's exporters write biases as such an Add.
#pragma once

#include <set>
#include <string>

#include "core/passes/pass.h"

namespace octavo::passes {

// Except a product or a sum in `kept_float`.
void AddToBias(ir::Graph& graph, const std::set<std::string>& kept_float, Context& context);

}  // namespace octavo::passes
