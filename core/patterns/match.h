// SPDX-License-Identifier: Apache-2.0
// Queries of nodes and constants, shared by matchers and rewrites.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::patterns {

// Whether the node is the ONNX op of that name.  False for null.
bool Is(const ir::Node* node, std::string_view op);
inline bool Is(const ir::Node& node, std::string_view op) { return Is(&node, op); }
// The same for Octavo's own ops: Quantize, Dequantize, Rescale.
bool IsOwn(const ir::Node* node, std::string_view op);
inline bool IsOwn(const ir::Node& node, std::string_view op) { return IsOwn(&node, op); }
// The value's producer if it is the ONNX op of that name; else null.
const ir::Node* ProducerIs(const ir::Graph& graph, ir::ValueId value, std::string_view op);

// The elements of an unquantized constant; null for any other value.
const ir::Tensor* ConstantOf(const ir::Graph& graph, ir::ValueId value);
std::optional<std::vector<int64_t>> IntsOf(const ir::Graph& graph, ir::ValueId value);
// The only element of a one-element float constant of any rank.
std::optional<float> ScalarOf(const ir::Graph& graph, ir::ValueId value);
// Whether the value is a one-element constant within a relative 1e-6 of `expected`.
bool IsScalar(const ir::Graph& graph, ir::ValueId value, double expected);

// The operand y if the value is 1 / y; else invalid.
ir::ValueId ReciprocalOf(const ir::Graph& graph, ir::ValueId value);

// `axis` counted from the front.
inline int64_t FrontAxis(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// Adds an f32 or integer constant named `base`, or `base_1`.. if that name is taken.
ir::ValueId AddConstant(ir::Graph& graph, std::string_view base, ir::Tensor tensor);
// `given` if it has the tensor's shape; otherwise adds the tensor, which has its elements in
// another shape, as a constant named after `given` with the suffix.
ir::ValueId ConstantFor(ir::Graph& graph, ir::ValueId given, ir::Tensor tensor,
                        std::string_view suffix);

}  // namespace octavo::patterns
