// A node between a model's form and the graph's: what conversions from one operator set version
// to another work on, in either direction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::onnx {

// What a draft reads: a value of the graph, a constant that a conversion makes, the result of
// another draft, or nothing (an absent optional input).
struct Operand {
  ir::ValueId value = {};
  std::optional<ir::Tensor> literal = {};
  // What the literal is for ("axes": it is named after the node's first output and this), or the
  // full name of another draft's result.
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
  std::vector<std::string> outputs = {};  // "" for one that nobody reads
  ir::AttrMap attributes = {};

  bool Has(size_t input) const { return input < inputs.size() && !inputs[input].absent(); }
  // Sets an input, with absent ones before it where there are too few.
  void Set(size_t input, Operand operand) {
    if (input >= inputs.size()) inputs.resize(input + 1);
    inputs[input] = std::move(operand);
  }
  void DropAbsentTail() {
    while (!inputs.empty() && inputs.back().absent()) inputs.pop_back();
  }
};

// A draft with the drafts that must be computed before it.
struct Conversion {
  Draft node = {};
  std::vector<Draft> before = {};
};

// The elements of a draft's input where they are constant, else null.
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
