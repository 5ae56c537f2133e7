// What the passes share: asking what a node is, reading constants, and putting one value in
// another's place without losing a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

// Whether the node is ONNX's op of that name.  False for null.
bool Is(const ir::Node* node, std::string_view op);
inline bool Is(const ir::Node& node, std::string_view op) { return Is(&node, op); }
// The same of Octavo's own ops: Quantize, Dequantize, Rescale.
bool IsOwn(const ir::Node* node, std::string_view op);
inline bool IsOwn(const ir::Node& node, std::string_view op) { return IsOwn(&node, op); }
// The producer of a value, where it is ONNX's op of that name; else null.
const ir::Node* ProducerIs(const ir::Graph& graph, ir::ValueId value, std::string_view op);
// ONNX's op of that name, which the table must have.
const ir::OpDef* Op(std::string_view name);

// The elements of a constant that is not quantized; null for any other value.
const ir::Tensor* ConstantOf(const ir::Graph& graph, ir::ValueId value);
std::optional<std::vector<int64_t>> IntsOf(const ir::Graph& graph, ir::ValueId value);
// The only element of a one-element float constant of any rank.
std::optional<float> ScalarOf(const ir::Graph& graph, ir::ValueId value);
// Whether the value is a one-element constant within one part in a million of `expected`.
bool IsScalar(const ir::Graph& graph, ir::ValueId value, double expected);

// `axis` counted from the front.
inline int64_t FrontAxis(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// Makes readers of `from` read `to`, which has the same type and always the same elements, and
// lets `from`'s producer go.  A graph output keeps its name: what computes `to` then computes
// `from` instead.  False where neither can be done (`to` is itself an output, an input or one of
// several results, or another result of `from`'s node is read); nothing is changed then.  May break
// the order of nodes: `resort` is set.
bool Replace(ir::Graph& graph, ir::ValueId from, ir::ValueId to, bool& resort);

// Computes `value` by another op on other inputs; the new node keeps its origin, and that of the
// nodes in `absorbed` joins it.
void Recompute(ir::Graph& graph, ir::NodeId id, std::string_view op,
               std::vector<ir::ValueId> inputs, ir::AttrMap attributes,
               const std::vector<const ir::Node*>& absorbed = {});

// A new f32 or integer constant under `base`, or `base_1`.. where that is taken.
ir::ValueId AddConstant(ir::Graph& graph, std::string_view base, ir::Tensor tensor);

// Gives `value`, a constant, other elements of the same shape for one reader: in place where that
// is the only reader, else a new constant `NAME.folded`, which is returned.
ir::ValueId ChangeConstant(ir::Graph& graph, ir::ValueId value, ir::Tensor tensor);

}  // namespace octavo::passes
