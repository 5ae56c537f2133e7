// Operators that an older version writes out in several; import puts them together again
// (gather_forms.h).
#include "core/onnx/forms.h"

namespace octavo::onnx::forms {
namespace {

// An operator before the draft that reads its result, named after the draft's result.
Operand Before(Conversion& conversion, std::string_view role, std::string_view op,
               std::vector<Operand> inputs) {
  const Draft& draft = conversion.node;
  Draft before{.name = fmt::format("{}.{}", draft.name, role),
               .op = std::string(op),
               .inputs = std::move(inputs),
               .outputs = {fmt::format("{}.{}", draft.outputs.front(), role)}};
  Operand result = Operand::Local(before.outputs.front());
  conversion.before.push_back(std::move(before));
  return result;
}

}  // namespace

// x * Sigmoid(alpha * x)
void SwishToProduct(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  const Operand x = draft.inputs[0];
  Operand scaled = x;
  if (const float alpha = draft.attributes.Float("alpha", 1); alpha != 1) {
    scaled = Before(conversion, "scaled", "Mul",
                    {x, Operand::Literal("alpha", ir::Tensor::Scalar(alpha))});
  }
  const Operand gate = Before(conversion, "sigmoid", "Sigmoid", {scaled});
  draft.op = "Mul";
  draft.attributes = {};
  draft.inputs = {x, gate};
}

}  // namespace octavo::onnx::forms
