// SPDX-License-Identifier: Apache-2.0
// The quantized type of a constant, derived from its elements and the target's weight scheme.
#pragma once

#include "core/ir/graph.h"
#include "core/profile/choose_params.h"
#include "core/target/target.h"

namespace octavo::passes {

// Whether --weights-only quantizes the input: it has the role of a weight, or it is the table from
// which a Gather takes rows.
bool IsWeight(const ir::Node& node, size_t input);
// The axis along which each index of a weight has its own scale: an output channel, or the row of a
// table; nullopt if there is none.
std::optional<int> ScaleAxis(const ir::Graph& graph, const ir::Node& node, size_t input);

// The axis of a matrix along which an output channel has its weights: K; nullopt for other weights.
std::optional<int> TermAxis(const ir::Graph& graph, const ir::Node& node, size_t input);

// The type of a weight of `op` with a scale for each index of `axis`; per-tensor without an axis or
// if the target requires it.  A channel of zeros gets the mean of the other channels' scales.
ir::Type WeightType(const ir::Tensor& weight, std::optional<int> axis, std::string_view op,
                    const target::Target& target);

// The type of a constant data operand (an addend, a table): per-tensor.
ir::Type ConstantType(const ir::Tensor& constant, const profile::Scheme& scheme);

// Minimum and maximum of the elements; {0, 0} for an empty tensor.
ir::Range RangeOf(const ir::Tensor& tensor);

}  // namespace octavo::passes
