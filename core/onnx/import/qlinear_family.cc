// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/qlinear_family.h"

#include "core/onnx/import/quant_inputs.h"

namespace octavo::onnx {
namespace {

using ir::ValueId;

// Positions of an operator's inputs; the scale and zero point of a quantized input follow it.
struct Layout {
  std::vector<size_t> quantized = {};
  std::optional<size_t> plain = {};  // the unquantized first input, a condition
  size_t result = 0;                 // position of the result's scale; its zero point follows
};

Result<ValueId> Dequantized(GraphBuilder& builder, ValueId quantized) {
  const ir::Graph& graph = builder.graph();
  ir::Type real{ir::DType::kF32, graph.type(quantized).shape, {}, {}};
  const std::string name = builder.Fresh(graph.name(quantized) + ".dq");
  return builder.AddOwn("Dequantize", graph.UniqueNodeName(name), name, quantized, std::move(real));
}

Result<ValueId> Real(GraphBuilder& builder, const Draft& draft, size_t value) {
  OCTAVO_TRY(const ValueId quantized, QuantizedOperand(builder, draft, value, value + 1, 0));
  return Dequantized(builder, quantized);
}

// Adds `plain`, then a Quantize with the parameters at inputs [result, result + 1].
Status AddAndQuantize(GraphBuilder& builder, const Draft& draft, size_t result, Draft plain) {
  plain.name = draft.name;
  const std::string before = builder.Fresh(draft.outputs[0] + ".float");
  plain.outputs = {before};
  OCTAVO_TRY(ir::Type type, ResultType(builder, draft, result));
  OCTAVO_CHECK(builder.Add({.node = std::move(plain)}));
  const ValueId real = builder.graph().Find(before);
  type.shape = builder.graph().type(real).shape;
  OCTAVO_CHECK(builder.AddOwn("Quantize", builder.graph().UniqueNodeName(draft.outputs[0]),
                              draft.outputs[0], real, std::move(type)));
  return {};
}

// Adds Dequantize nodes, `plain` (which has the operator, its attributes and the inputs after the
// data), and a Quantize.
Status Build(GraphBuilder& builder, const Draft& draft, const Layout& layout, Draft plain) {
  if (draft.outputs.size() != 1) return Invalid(draft, "must have 1 output");
  for (const size_t value : layout.quantized) {
    for (const size_t input : {value, value + 1}) {
      if (!draft.Has(input)) return Invalid(draft, "input {} must be given", input);
    }
  }
  if (!draft.Has(layout.result)) return Invalid(draft, "input {} must be given", layout.result);
  std::vector<Operand> operands;
  if (layout.plain) operands.push_back(draft.inputs[*layout.plain]);
  for (const size_t value : layout.quantized) {
    OCTAVO_TRY(const ValueId real, Real(builder, draft, value));
    operands.push_back(Operand::Of(real));
  }
  plain.inputs.insert(plain.inputs.begin(), operands.begin(), operands.end());
  return AddAndQuantize(builder, draft, layout.result, std::move(plain));
}

Status ChannelsFirst(const Draft& draft) {
  if (draft.attributes.Int("channels_last", 0) == 0) return {};
  return Unsupported(draft,
                     "attribute 'channels_last' is 1; only channels-first layout is supported");
}

Draft Plain(std::string op, const Draft& draft) {
  return {.op = std::move(op), .attributes = draft.attributes};
}

// (x, scale, zero, y_scale, y_zero)
const Layout kUnary = {.quantized = {0}, .result = 3};

Status Unary(GraphBuilder& builder, const Draft& draft, std::string_view op) {
  return Build(builder, draft, kUnary, Plain(std::string(op), draft));
}
Status Sigmoid(GraphBuilder& builder, const Draft& draft) {
  return Unary(builder, draft, "Sigmoid");
}
Status LeakyRelu(GraphBuilder& builder, const Draft& draft) {
  return Unary(builder, draft, "LeakyRelu");
}

Status Pool(GraphBuilder& builder, const Draft& draft, std::string_view op) {
  OCTAVO_CHECK(ChannelsFirst(draft));
  Draft plain = Plain(std::string(op), draft);
  plain.attributes.Erase("channels_last");
  return Build(builder, draft, kUnary, std::move(plain));
}
Status AveragePool(GraphBuilder& builder, const Draft& draft) {
  return Pool(builder, draft, "AveragePool");
}
Status GlobalAveragePool(GraphBuilder& builder, const Draft& draft) {
  return Pool(builder, draft, "GlobalAveragePool");
}

// Attribute `opset` selects the version of Softmax: before 13, it normalizes over all axes from
// `axis` on.
Status Softmax(GraphBuilder& builder, const Draft& draft) {
  Draft plain = Plain("Softmax", draft);
  const int64_t opset = draft.attributes.Int("opset", 0);
  plain.attributes.Erase("opset");
  if (opset < 13 && draft.Has(0)) {
    const auto rank =
        static_cast<int64_t>(builder.graph().type(draft.inputs[0].value).shape.size());
    const int64_t axis = draft.attributes.Int("axis", 1);
    if (axis != -1 && axis != rank - 1) {
      return Unsupported(draft, "axis {} of rank {} of opset {}; only the last axis is supported",
                         axis, rank, opset);
    }
    plain.attributes.Set("axis", int64_t{-1});
  }
  return Build(builder, draft, kUnary, std::move(plain));
}

Status ReduceMean(GraphBuilder& builder, const Draft& draft) {
  Draft plain = Plain("ReduceMean", draft);
  if (draft.attributes.Has("axes")) {
    plain.inputs.push_back(
        Operand::Literal("axes", ir::Tensor::Ints(draft.attributes.Ints("axes"))));
    plain.attributes.Erase("axes");
  }
  return Build(builder, draft, kUnary, std::move(plain));
}

// (a, scale, zero, b, scale, zero, c_scale, c_zero)
const Layout kBinary = {.quantized = {0, 3}, .result = 6};

Status Add(GraphBuilder& builder, const Draft& draft) {
  return Build(builder, draft, kBinary, Plain("Add", draft));
}
Status Mul(GraphBuilder& builder, const Draft& draft) {
  return Build(builder, draft, kBinary, Plain("Mul", draft));
}

// (condition, x, scale, zero, y, scale, zero, z_scale, z_zero)
Status Where(GraphBuilder& builder, const Draft& draft) {
  if (!draft.Has(0)) return Invalid(draft, "input 0 must be given");
  const Layout layout = {.quantized = {1, 4}, .plain = 0, .result = 7};
  return Build(builder, draft, layout, Plain("Where", draft));
}

// (y_scale, y_zero, x, scale, zero, x, scale, zero, ...)
Status Concat(GraphBuilder& builder, const Draft& draft) {
  Layout layout;
  for (size_t input = 2; input < draft.inputs.size(); input += 3) layout.quantized.push_back(input);
  if (layout.quantized.empty()) return Invalid(draft, "input 2 must be given");
  return Build(builder, draft, layout, Plain("Concat", draft));
}

// (a, scale, zero, b, scale, zero, c, y_scale, y_zero): c is int32 at the scale of the product;
// without y_scale, the result is float32.
Status Gemm(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 6));
  if (const float alpha = draft.attributes.Float("alpha", 1); alpha != 1) {
    return Unsupported(draft, "attribute 'alpha' is {}; only 1 is supported", alpha);
  }
  const int64_t channels = draft.attributes.Int("transB", 0) != 0 ? 0 : 1;
  OCTAVO_TRY(const ValueId a, QuantizedOperand(builder, draft, 0, 1, 0));
  OCTAVO_TRY(const ValueId b, QuantizedOperand(builder, draft, 3, 4, channels));
  Draft plain = Plain("Gemm", draft);
  plain.name = draft.name;
  for (const ValueId quantized : {a, b}) {
    OCTAVO_TRY(const ValueId real, Dequantized(builder, quantized));
    plain.inputs.push_back(Operand::Of(real));
  }
  if (draft.Has(6)) {
    const ir::Shape& matrix = builder.graph().type(b).shape;
    if (matrix.size() != 2) return Invalid(draft, "b has rank {}, but must have 2", matrix.size());
    OCTAVO_TRY(const ValueId quantized,
               QuantizedBias(builder, draft, 6, a, b, matrix[static_cast<size_t>(channels)]));
    OCTAVO_TRY(const ValueId real, Dequantized(builder, quantized));
    plain.inputs.push_back(Operand::Of(real));
  }
  if (!draft.Has(7)) {
    plain.outputs = draft.outputs;
    return builder.Add({.node = std::move(plain)});
  }
  return AddAndQuantize(builder, draft, 7, std::move(plain));
}

struct Row {
  std::string_view op = {};
  QuantizedOp build = nullptr;
};

constexpr Row kRows[] = {
    {"QGemm", &Gemm},
    {"QLinearAdd", &Add},
    {"QLinearAveragePool", &AveragePool},
    {"QLinearConcat", &Concat},
    {"QLinearGlobalAveragePool", &GlobalAveragePool},
    {"QLinearLeakyRelu", &LeakyRelu},
    {"QLinearMul", &Mul},
    {"QLinearReduceMean", &ReduceMean},
    {"QLinearSigmoid", &Sigmoid},
    {"QLinearSoftmax", &Softmax},
    {"QLinearWhere", &Where},
};

}  // namespace

QuantizedOp FindQLinearOp(std::string_view op) {
  for (const Row& row : kRows) {
    if (row.op == op) return row.build;
  }
  return nullptr;
}

}  // namespace octavo::onnx
