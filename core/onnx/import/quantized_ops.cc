// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/quantized_ops.h"

#include "core/onnx/import/blocks.h"
#include "core/onnx/import/qlinear_family.h"
#include "core/onnx/import/quant_inputs.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

using ir::ValueId;

// From opset 23 on, an attribute can select another float type.
Status ComputesInF32(const Draft& draft, std::string_view attribute) {
  const auto type = static_cast<int>(draft.attributes.Int(attribute, 0));
  if (type == 0 || type == WireOf(ir::DType::kF32)) return {};
  return Unsupported(draft, "{} {} is not supported", attribute, WireName(type));
}

// The type of the result of QuantizeLinear: that of the zero point, else as output_dtype says.
Result<ir::DType> StorageOfResult(const GraphBuilder& builder, const Draft& draft) {
  ir::DType storage = ir::DType::kU8;
  const auto asked = static_cast<int>(draft.attributes.Int("output_dtype", 0));
  if (IsFourBit(asked)) {
    storage = FourBitsOfWire(asked);
  } else if (asked != 0) {
    const auto dtype = DTypeOfWire(asked);
    if (!dtype) return Unsupported(draft, "output type {} is not supported", WireName(asked));
    storage = *dtype;
  }
  if (!draft.Has(2)) return storage;
  storage = StorageOf(builder, draft, 2, storage);
  return builder.IsFourBit(draft.inputs[2].value) ? FourBitsOf(storage) : storage;
}

Status QuantizeLinear(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 2));
  OCTAVO_CHECK(ComputesInF32(draft, "precision"));
  OCTAVO_TRY(const ir::DType storage, StorageOfResult(builder, draft));
  if (draft.attributes.Int("block_size", 0) != 0) return QuantizeBlocks(builder, draft, storage);
  if (ir::IsFourBit(storage)) {
    return Unsupported(draft, "4-bit integers are supported in constants only");
  }
  const ValueId x = draft.inputs[0].value;
  ir::Type type = builder.graph().type(x);
  if (type.dtype != ir::DType::kF32 || type.quantized()) {
    return Unsupported(draft, "input '{}' is {}; only float32 can be quantized",
                       builder.graph().name(x), ir::ToString(type));
  }
  OCTAVO_TRY(type.quant, ReadQuant(builder, draft, 1, draft.attributes.Int("axis", 1),
                                   static_cast<int64_t>(type.shape.size())));
  type.dtype = storage;
  OCTAVO_CHECK(builder.AddOwn("Quantize", draft.name, draft.outputs[0], x, std::move(type)));
  return {};
}

Status DequantizeLinear(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 2));
  OCTAVO_CHECK(ComputesInF32(draft, "output_dtype"));
  if (draft.attributes.Int("block_size", 0) != 0) return DequantizeBlocks(builder, draft);
  const ValueId x = draft.inputs[0].value;
  const ir::Type type = builder.graph().type(x);
  if (!ir::IsInteger(type.dtype) || StorageOf(builder, draft, 2, type.dtype) != type.dtype) {
    return Invalid(draft, "input '{}' is {}, its zero point {}", builder.graph().name(x),
                   ir::ToString(type), ir::Name(StorageOf(builder, draft, 2, type.dtype)));
  }
  OCTAVO_TRY(const ir::Quant quant, ReadQuant(builder, draft, 1, draft.attributes.Int("axis", 1),
                                              static_cast<int64_t>(type.shape.size())));
  OCTAVO_TRY(const ValueId quantized, builder.AsDequantized(x, quant, draft));
  const ir::Type real{ir::DType::kF32, type.shape, {}, {}};
  OCTAVO_CHECK(builder.AddOwn("Dequantize", draft.name, draft.outputs[0], quantized, real));
  return {};
}

// QLinearConv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
Status QLinearConv(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_CHECK(NeedInputs(draft, 8));
  OCTAVO_TRY(const ValueId x, QuantizedOperand(builder, draft, 0, 1, 1));
  OCTAVO_TRY(const ValueId w, QuantizedOperand(builder, draft, 3, 4, 0));
  OCTAVO_TRY(const ir::Type type, ResultType(builder, draft, 6));
  std::vector<ValueId> inputs = {x, w};
  if (draft.Has(8)) {
    const ir::Shape& kernels = builder.graph().type(w).shape;
    if (kernels.empty()) return Invalid(draft, "the weight is a scalar");
    OCTAVO_TRY(const ValueId bias, QuantizedBias(builder, draft, 8, x, w, kernels[0]));
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
  bool in_both = false;  // ONNX Runtime's domain also has the op, with more types
};

constexpr Row kRows[] = {
    {"QuantizeLinear", &QuantizeLinear, true},
    {"DequantizeLinear", &DequantizeLinear, true},
    {"QLinearConv", &QLinearConv},
    {"QLinearMatMul", &QLinearMatMul},
};

}  // namespace

QuantizedOp FindQuantizedOp(std::string_view op, std::string_view domain) {
  const bool microsoft = domain == kMicrosoft;
  if (!microsoft && !domain.empty()) return nullptr;
  for (const Row& row : kRows) {
    if (row.op == op && (!microsoft || row.in_both)) return row.build;
  }
  return microsoft ? FindQLinearOp(op) : nullptr;
}

}  // namespace octavo::onnx
