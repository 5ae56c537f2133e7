// SPDX-License-Identifier: Apache-2.0
// Decomposes operators that an older opset lacks into several that it has.  Import of a quantized
// model recognizes the same patterns again.
#include <cmath>

#include "core/onnx/versions/conversions.h"

namespace octavo::onnx {
namespace {

Decompose GeluToProduct, HardSwishToProduct, LayerNormToQuotient, NormWithEpsilonToQuotient,
    RmsNormToQuotient, SwishToProduct;

constexpr DecompositionRow kRows[] = {
    {"Gelu", &GeluToProduct},
    {"HardSwish", &HardSwishToProduct},
    {"LayerNormalization", &LayerNormToQuotient},
    {"LpNormalization", &NormWithEpsilonToQuotient},
    {"RMSNormalization", &RmsNormToQuotient},
    {"Swish", &SwishToProduct},
};

// Adds an operator before the draft as the producer of an operand; its name derives from the
// draft's result.
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

// Adds a reduction before the draft; its axes are an operand from opset 18 on, before that an
// attribute.
Operand Reduced(Conversion& conversion, int64_t opset, std::string_view role, std::string_view op,
                const Operand& x, const std::vector<int64_t>& axes) {
  if (opset >= 18) {
    return Before(conversion, role, op, {x, Operand::Literal("axes", ir::Tensor::Ints(axes))});
  }
  Operand result = Before(conversion, role, op, {x});
  conversion.before.back().attributes.Set("axes", axes);
  return result;
}

// Literals are f32.
bool IsF32(const ir::Graph& graph, const Operand& x) {
  return graph.type(x.value).Expressed().dtype == ir::DType::kF32;
}

Operand Number(std::string_view role, float value) {
  return Operand::Literal(std::string(role), ir::Tensor::Scalar(value));
}

// x * 0.5 * (1 + Erf(x * sqrt(1/2))), or with Tanh(sqrt(2/pi) * (x + 0.044715 * x^3)) for Erf
bool GeluToProduct(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  Draft& draft = conversion.node;
  const Operand x = draft.inputs[0];
  if (opset >= 20 || !IsF32(graph, x)) return false;
  Operand curve;
  if (draft.attributes.String("approximate", "none") == "tanh") {
    const Operand square = Before(conversion, "square", "Mul", {x, x});
    const Operand cube = Before(conversion, "cube", "Mul", {square, x});
    const Operand small = Before(conversion, "small", "Mul", {cube, Number("cubic", 0.044715f)});
    const Operand inner = Before(conversion, "inner", "Add", {x, small});
    const auto factor = static_cast<float>(std::sqrt(2 / M_PI));
    const Operand scaled = Before(conversion, "scaled", "Mul", {inner, Number("factor", factor)});
    curve = Before(conversion, "tanh", "Tanh", {scaled});
  } else {
    const auto factor = static_cast<float>(std::sqrt(0.5));
    const Operand scaled = Before(conversion, "scaled", "Mul", {x, Number("factor", factor)});
    curve = Before(conversion, "erf", "Erf", {scaled});
  }
  const Operand sum = Before(conversion, "sum", "Add", {curve, Number("one", 1)});
  const Operand half = Before(conversion, "half", "Mul", {x, Number("one_half", 0.5f)});
  draft.op = "Mul";
  draft.attributes = {};
  draft.inputs = {half, sum};
  return true;
}

// x * HardSigmoid{1/6, 1/2}(x)
bool HardSwishToProduct(const ir::Graph&, int64_t opset, Conversion& conversion) {
  if (opset >= 14) return false;
  Draft& draft = conversion.node;
  const Operand x = draft.inputs[0];
  const Operand gate = Before(conversion, "sigmoid", "HardSigmoid", {x});
  conversion.before.back().attributes = {{"alpha", 1.0f / 6}, {"beta", 0.5f}};
  draft.op = "Mul";
  draft.inputs = {x, gate};
  return true;
}

// d / Sqrt(ReduceMean(d * d) + epsilon) * scale + bias with d = x - ReduceMean(x).  Nothing else
// computes the further outputs, the mean and the reciprocal of the root.
bool LayerNormToQuotient(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  Draft& draft = conversion.node;
  const Operand x = draft.inputs[0], scale = draft.inputs[1];
  if (opset >= 17 || draft.outputs.size() != 1 || !IsF32(graph, x)) return false;
  const float epsilon = draft.attributes.Float("epsilon", 1e-5f);
  const ir::Shape& shape = graph.type(x.value).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = draft.attributes.Int("axis", -1);
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i) axes.push_back(i);
  // The pattern is recognized with a bias only.
  const Operand bias =
      draft.Has(2)
          ? draft.inputs[2]
          : Operand::Literal(
                "bias", ir::Tensor(ir::DType::kF32, {shape.begin() + axes.front(), shape.end()}));
  const Operand mean = Reduced(conversion, opset, "mean", "ReduceMean", x, axes);
  const Operand deviation = Before(conversion, "deviation", "Sub", {x, mean});
  const Operand square = Before(conversion, "square", "Mul", {deviation, deviation});
  const Operand variance = Reduced(conversion, opset, "variance", "ReduceMean", square, axes);
  const Operand sum = Before(conversion, "sum", "Add", {variance, Number("epsilon", epsilon)});
  const Operand root = Before(conversion, "root", "Sqrt", {sum});
  const Operand normal = Before(conversion, "normal", "Div", {deviation, root});
  const Operand scaled = Before(conversion, "scaled", "Mul", {normal, scale});
  draft.op = "Add";
  draft.attributes = {};
  draft.inputs = {scaled, bias};
  return true;
}

// x * Sigmoid(alpha * x)
bool SwishToProduct(const ir::Graph&, int64_t opset, Conversion& conversion) {
  if (opset >= 24) return false;
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
  return true;
}

// x / Max(ReduceL2(x), epsilon), or with epsilon added, by epsilon_mode; no single ONNX operator
// computes this.
bool NormWithEpsilonToQuotient(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  Draft& draft = conversion.node;
  const float epsilon = draft.attributes.Float("epsilon", 0);
  const std::string mode = draft.attributes.String("epsilon_mode", "max");
  const auto rank = static_cast<int64_t>(graph.type(draft.inputs[0].value).shape.size());
  const int64_t axis = draft.attributes.Int("axis", -1);
  const std::vector<int64_t> axes = {axis < 0 ? axis + rank : axis};
  const bool squares = draft.attributes.Int("p", 2) == 2;
  draft.attributes = {};
  if (epsilon == 0) {
    draft.attributes = {{"axis", axes.front()}, {"p", int64_t{squares ? 2 : 1}}};
    return false;
  }
  const Operand x = draft.inputs[0];
  const Operand number = Operand::Literal("epsilon", ir::Tensor::Scalar(epsilon));
  const bool inside = mode == "inside" && squares;
  const std::string_view reduction = inside ? "ReduceSumSquare" : squares ? "ReduceL2" : "ReduceL1";
  Operand norm = Reduced(conversion, opset, "norm", reduction, x, axes);
  norm = Before(conversion, "kept", mode == "max" ? "Max" : "Add", {norm, number});
  if (inside) norm = Before(conversion, "root", "Sqrt", {norm});
  draft.op = "Div";
  draft.inputs = {x, norm};
  return true;
}

// x / Sqrt(ReduceMean(x * x) + epsilon) * scale
bool RmsNormToQuotient(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  if (opset >= 23) return false;
  Draft& draft = conversion.node;
  const Operand x = draft.inputs[0], scale = draft.inputs[1];
  const float epsilon = draft.attributes.Float("epsilon", 1e-5f);
  const auto rank = static_cast<int64_t>(graph.type(x.value).shape.size());
  const int64_t axis = draft.attributes.Int("axis", -1);
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i) axes.push_back(i);
  const Operand square = Before(conversion, "square", "Mul", {x, x});
  const Operand mean = Reduced(conversion, opset, "mean", "ReduceMean", square, axes);
  const Operand sum = Before(conversion, "sum", "Add",
                             {mean, Operand::Literal("epsilon", ir::Tensor::Scalar(epsilon))});
  const Operand root = Before(conversion, "root", "Sqrt", {sum});
  const Operand normal = Before(conversion, "normal", "Div", {x, root});
  draft.op = "Mul";
  draft.attributes = {};
  draft.inputs = {normal, scale};
  return true;
}

}  // namespace

std::span<const DecompositionRow> Decompositions() { return kRows; }

}  // namespace octavo::onnx
