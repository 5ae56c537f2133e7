// SPDX-License-Identifier: Apache-2.0
#include "core/ir/op_def.h"

#include "core/ir/graph.h"
#include "core/ir/infer.h"

namespace octavo::ir {

InferContext::InferContext(const Node& node, std::span<const Type> inputs,
                           std::span<const Tensor* const> known, size_t results)
    : node_(node), inputs_(inputs), known_(known), results_(results) {}

bool InferContext::Has(size_t input) const {
  return input < node_.inputs.size() && node_.inputs[input].valid();
}

Result<std::vector<int64_t>> InferContext::KnownInts(size_t input, std::string_view what) const {
  if (!Has(input)) return Invalid("input {} ({}) is missing", input, what);
  const Tensor* tensor = known(input);
  if (tensor == nullptr) {
    return Unsupported("{} depends on data; it must follow from constants and shapes", what)
        .Reason(kDependsOnData)
        .Field(std::to_string(input));
  }
  if (IsFloat(tensor->dtype())) {
    return Invalid("{} is of type {}, but must be an integer tensor", what, Name(tensor->dtype()));
  }
  return tensor->ToInts();
}

void InferContext::SetResult(size_t result, DType dtype, Shape shape) {
  results_[result] = Type{dtype, std::move(shape), {}, {}};
}

Failure InferContext::Problem(Code code, std::string message) const {
  return Fail(code, "{} '{}': {}", node_.op->name, node_.name, message).Node(node_.name);
}

}  // namespace octavo::ir
