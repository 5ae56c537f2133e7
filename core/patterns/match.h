// SPDX-License-Identifier: Apache-2.0
// Queries of nodes and constants, for matchers and rewrites.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::patterns {

// Whether the node is ONNX's op of that name.  False for null.
bool Is(const ir::Node* node, std::string_view op);
inline bool Is(const ir::Node& node, std::string_view op) { return Is(&node, op); }
// The same of Octavo's own ops: Quantize, Dequantize, Rescale.
bool IsOwn(const ir::Node* node, std::string_view op);
inline bool IsOwn(const ir::Node& node, std::string_view op) { return IsOwn(&node, op); }
// The producer of a value, where it is ONNX's op of that name; else null.
const ir::Node* ProducerIs(const ir::Graph& graph, ir::ValueId value, std::string_view op);

// The elements of a constant that is not quantized; null for any other value.
const ir::Tensor* ConstantOf(const ir::Graph& graph, ir::ValueId value);
std::optional<std::vector<int64_t>> IntsOf(const ir::Graph& graph, ir::ValueId value);
// The only element of a one-element float constant of any rank.
std::optional<float> ScalarOf(const ir::Graph& graph, ir::ValueId value);
// Whether the value is a one-element constant within one part in a million of `expected`.
bool IsScalar(const ir::Graph& graph, ir::ValueId value, double expected);

// x of a value 1 / x; none for any other value.
ir::ValueId ReciprocalOf(const ir::Graph& graph, ir::ValueId value);

// `axis` counted from the front.
inline int64_t FrontAxis(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// A new f32 or integer constant under `base`, or `base_1`.. where that is taken.
ir::ValueId AddConstant(ir::Graph& graph, std::string_view base, ir::Tensor tensor);

}  // namespace octavo::patterns
