// SPDX-License-Identifier: Apache-2.0
// A node during conversion from one operator version to another, in either direction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::onnx {

// An input of a draft: a value of the graph, a constant that a conversion creates, the result of
// another draft, or absent (an optional input).
struct Operand {
  ir::ValueId value = {};
  std::optional<ir::Tensor> literal = {};
  // The role of the literal (for "axes", the constant is named OUTPUT.axes after the node's first
  // output), or the full name of another draft's result.
  std::string name = {};

  bool absent() const { return !value && !literal && name.empty(); }
  static Operand Of(ir::ValueId value) { return {.value = value}; }
  static Operand Literal(std::string role, ir::Tensor tensor) {
    return {.literal = std::move(tensor), .name = std::move(role)};
  }
  static Operand Local(std::string name) { return {.name = std::move(name)}; }
};

struct Draft {
  std::string name = {};
  std::string op = {};
  std::string domain = {};
  std::vector<Operand> inputs = {};
  std::vector<std::string> outputs = {};  // "" for one without consumers
  ir::AttrMap attributes = {};

  bool Has(size_t input) const { return input < inputs.size() && !inputs[input].absent(); }
  // Sets an input; missing inputs before it become absent.
  void Set(size_t input, Operand operand) {
    if (input >= inputs.size()) inputs.resize(input + 1);
    inputs[input] = std::move(operand);
  }
  void DropAbsentTail() {
    while (!inputs.empty() && inputs.back().absent()) inputs.pop_back();
  }
};

// A draft, and the drafts before it that compute its inputs.
struct Conversion {
  Draft node = {};
  std::vector<Draft> before = {};
};

// The tensor of a draft's input if it is constant and not quantized; else null.
inline const ir::Tensor* ConstantOf(const ir::Graph& graph, const Draft& draft, size_t input) {
  if (!draft.Has(input)) return nullptr;
  const Operand& operand = draft.inputs[input];
  if (operand.literal) return &*operand.literal;
  if (!operand.value) return nullptr;
  const ir::Value& value = graph.value(operand.value);
  return value.constant && !value.type.quantized() ? &value.constant->tensor : nullptr;
}

template <class... Args>
Failure Unsupported(const Draft& draft, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kUnimplemented, "{} '{}': {}", draft.op, draft.name,
              fmt::format(format, std::forward<Args>(args)...))
      .Node(draft.name);
}
template <class... Args>
Failure Invalid(const Draft& draft, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "{} '{}': {}", draft.op, draft.name,
              fmt::format(format, std::forward<Args>(args)...))
      .Node(draft.name);
}

}  // namespace octavo::onnx
