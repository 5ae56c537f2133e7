#include "core/onnx/quantized_ops.h"

#include <cmath>

#include "core/ir/verify.h"
#include "core/onnx/tensor_proto.h"

namespace octavo::onnx {
namespace {

using ir::ValueId;

Status NeedInputs(const Draft& draft, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!draft.Has(i)) return Invalid(draft, "input {} must be given", i);
  }
  if (draft.outputs.size() != 1) return Invalid(draft, "must have 1 output");
  return {};
}

Result<const ir::Tensor*> Parameter(const GraphBuilder& builder, const Draft& draft, size_t input,
                                    std::string_view what) {
  const ir::Tensor* tensor = ConstantOf(builder.graph(), draft, input);
  if (tensor != nullptr && tensor->rank() <= 1) return tensor;
  const std::string& name = builder.graph().name(draft.inputs[input].value);
  if (tensor != nullptr) {
    return Unsupported(draft, "{} '{}' has shape {}; blocked quantization is not supported", what,
                       name, ir::ToString(tensor->shape()));
  }
  return Failure(Error{.code = Code::kUnimplemented,
                       .message = fmt::format("{} '{}': {} '{}' is not a constant", draft.op,
                                              draft.name, what, name),
                       .reason = std::string(kDynamicQuantization),
                       .node = draft.name,
                       .field = name});
}

// Scale and zero point at inputs [at, at + 1].  `axis` counts for more than one pair.
Result<ir::Quant> ReadQuant(const GraphBuilder& builder, const Draft& draft, size_t at,
                            int64_t axis, int64_t rank) {
  OCTAVO_TRY(const ir::Tensor* scale, Parameter(builder, draft, at, "scale"));
  if (scale->dtype() != ir::DType::kF32) {
    return Unsupported(draft, "a scale of type {} is not supported", ir::Name(scale->dtype()));
  }
  const auto scales = scale->values<float>();
  ir::Quant quant;
  quant.scales.assign(scales.begin(), scales.end());
  quant.zero_points.assign(quant.scales.size(), 0);
  if (draft.Has(at + 1)) {
    OCTAVO_TRY(const ir::Tensor* zero, Parameter(builder, draft, at + 1, "zero point"));
    if (!ir::IsInteger(zero->dtype()) || zero->size() != scale->size()) {
      return Invalid(draft, "zero point has {} elements of type {}, its scale {}", zero->size(),
                     ir::Name(zero->dtype()), scale->size());
    }
    for (int64_t i = 0; i < zero->size(); ++i) {
      quant.zero_points[static_cast<size_t>(i)] = static_cast<int32_t>(zero->IntAt(i));
    }
  }
  for (const float value : quant.scales) {
    if (std::isfinite(value) && value > 0) continue;
    return Failure(Error{.code = Code::kInvalidArgument,
                         .message = fmt::format("{} '{}': scale {} must be positive and finite",
                                                draft.op, draft.name, value),
                         .reason = "INVALID_QUANTIZATION",
                         .node = draft.name,
                         .field = builder.graph().name(draft.inputs[at].value)});
  }
  if (quant.scales.size() == 1) return quant;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Invalid(draft, "axis {} is outside of rank {}", axis, rank);
  quant.axis = static_cast<int>(axis);
  return quant;
}

// The type of the zero point at `input`, or the fallback where it is absent.
ir::DType StorageOf(const GraphBuilder& builder, const Draft& draft, size_t input,
                    ir::DType fallback) {
  return draft.Has(input) ? builder.graph().type(draft.inputs[input].value).dtype : fallback;
}

Status NoBlocks(const Draft& draft) {
  if (draft.attributes.Int("block_size", 0) == 0) return {};
  return Unsupported(draft, "blocked quantization is not supported");
}

Status QuantizeLinear(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 2));
  OCTAVO_CHECK(NoBlocks(draft));
  const ValueId x = draft.inputs[0].value;
  ir::Type type = builder.graph().type(x);
  if (type.dtype != ir::DType::kF32 || type.quantized()) {
    return Unsupported(draft, "input '{}' is {}; only float32 can be quantized",
                       builder.graph().name(x), ir::ToString(type));
  }
  OCTAVO_TRY(type.quant, ReadQuant(builder, draft, 1, draft.attributes.Int("axis", 1),
                                   static_cast<int64_t>(type.shape.size())));
  ir::DType storage = ir::DType::kU8;
  if (const auto asked = draft.attributes.Int("output_dtype", 0); asked != 0) {
    const auto dtype = DTypeOfWire(static_cast<int>(asked));
    if (!dtype)
      return Unsupported(draft, "output type {} is not supported",
                         WireName(static_cast<int>(asked)));
    storage = *dtype;
  }
  type.dtype = StorageOf(builder, draft, 2, storage);
  OCTAVO_CHECK(builder.AddOwn("Quantize", draft.name, draft.outputs[0], x, std::move(type)));
  return {};
}

Status DequantizeLinear(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 2));
  OCTAVO_CHECK(NoBlocks(draft));
  const ValueId x = draft.inputs[0].value;
  const ir::Type type = builder.graph().type(x);
  if (!ir::IsInteger(type.dtype) || StorageOf(builder, draft, 2, type.dtype) != type.dtype) {
    return Invalid(draft, "input '{}' is {}, its zero point {}", builder.graph().name(x),
                   ir::ToString(type), ir::Name(StorageOf(builder, draft, 2, type.dtype)));
  }
  OCTAVO_TRY(const ir::Quant quant, ReadQuant(builder, draft, 1, draft.attributes.Int("axis", 1),
                                              static_cast<int64_t>(type.shape.size())));
  OCTAVO_TRY(const ValueId codes, builder.AsQuantized(x, quant, draft.name));
  const ir::Type real{ir::DType::kF32, type.shape, {}, {}};
  OCTAVO_CHECK(builder.AddOwn("Dequantize", draft.name, draft.outputs[0], codes, real));
  return {};
}

Result<ValueId> QuantizedOperand(GraphBuilder& builder, const Draft& draft, size_t value,
                                 size_t parameters, int64_t axis) {
  const ValueId id = draft.inputs[value].value;
  const auto rank = static_cast<int64_t>(builder.graph().type(id).shape.size());
  OCTAVO_TRY(const ir::Quant quant, ReadQuant(builder, draft, parameters, axis, rank));
  return builder.AsQuantized(id, quant, draft.name);
}

Result<ir::Type> ResultType(GraphBuilder& builder, const Draft& draft, size_t parameters) {
  OCTAVO_TRY(ir::Quant quant, ReadQuant(builder, draft, parameters, 0, 0));
  return ir::Type{StorageOf(builder, draft, parameters + 1, ir::DType::kU8), {}, quant, {}};
}

// The int32 bias of a quantized convolution is read at s_x * s_w.
ir::Quant BiasQuant(const ir::Quant& x, const ir::Quant& w) {
  ir::Quant bias;
  bias.scales.clear();
  for (const float scale : w.scales) bias.scales.push_back(x.scale() * scale);
  bias.zero_points.assign(bias.scales.size(), 0);
  if (w.axis) bias.axis = 0;
  return bias;
}

// QLinearConv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
Status QLinearConv(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 8));
  OCTAVO_TRY(const ValueId x, QuantizedOperand(builder, draft, 0, 1, 1));
  OCTAVO_TRY(const ValueId w, QuantizedOperand(builder, draft, 3, 4, 0));
  OCTAVO_TRY(const ir::Type type, ResultType(builder, draft, 6));
  std::vector<ValueId> inputs = {x, w};
  if (draft.Has(8)) {
    const ir::Quant quant =
        BiasQuant(*builder.graph().type(x).quant, *builder.graph().type(w).quant);
    OCTAVO_TRY(const ValueId bias, builder.AsQuantized(draft.inputs[8].value, quant, draft.name));
    inputs.push_back(bias);
  }
  OCTAVO_CHECK(builder.AddQuantized("Conv", draft, inputs, draft.attributes, type));
  return {};
}

// QLinearMatMul(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
Status QLinearMatMul(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 8));
  OCTAVO_TRY(const ValueId a, QuantizedOperand(builder, draft, 0, 1, -2));
  OCTAVO_TRY(const ValueId b, QuantizedOperand(builder, draft, 3, 4, -1));
  OCTAVO_TRY(const ir::Type type, ResultType(builder, draft, 6));
  OCTAVO_CHECK(builder.AddQuantized("MatMul", draft, {a, b}, {}, type));
  return {};
}

struct Row {
  std::string_view op = {};
  QuantizedOp build = nullptr;
};

constexpr Row kRows[] = {
    {"QuantizeLinear", &QuantizeLinear},
    {"DequantizeLinear", &DequantizeLinear},
    {"QLinearConv", &QLinearConv},
    {"QLinearMatMul", &QLinearMatMul},
};

}  // namespace

QuantizedOp FindQuantizedOp(std::string_view op) {
  for (const Row& row : kRows) {
    if (row.op == op) return row.build;
  }
  return nullptr;
}

}  // namespace octavo::onnx
