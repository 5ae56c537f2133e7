// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/blocks.h"

#include <algorithm>
#include <limits>

#include "core/ir/blocks.h"
#include "core/onnx/import/quant_inputs.h"

namespace octavo::onnx {
namespace {

Result<const ir::Tensor*> Constant(const GraphBuilder& builder, const Draft& draft, size_t input,
                                   std::string_view what) {
  const ir::Tensor* tensor = ConstantOf(builder.graph(), draft, input);
  if (tensor != nullptr) return tensor;
  return Unsupported(
      draft, "{} '{}' is not a constant; blocked quantization is supported for constants only",
      what, builder.graph().name(draft.inputs[input].value));
}

// The axis and the block, without scales.
Result<ir::Quant> BlocksOf(const Draft& draft, const ir::Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = draft.attributes.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Invalid(draft, "axis {} is outside of rank {}", axis, rank);
  const int64_t block = draft.attributes.Int("block_size", 0);
  if (block < 1) return Invalid(draft, "block_size {} must be at least 1", block);
  // A block that is longer than the axis holds all of it.
  const int64_t most = std::numeric_limits<int>::max();
  return ir::Quant{{}, {}, static_cast<int>(axis), static_cast<int>(std::min(block, most))};
}

Status CheckShape(const Draft& draft, std::string_view what, const ir::Tensor& tensor,
                  const ir::Shape& expected) {
  if (tensor.shape() == expected) return {};
  return Invalid(draft, "{} has shape {}, must have {}", what, ir::ToString(tensor.shape()),
                 ir::ToString(expected));
}

// Scale and zero point at inputs 1 and 2, of the blocks of a value of that type.
Result<ir::Quant> ReadBlocks(const GraphBuilder& builder, const Draft& draft,
                             const ir::Shape& shape) {
  OCTAVO_TRY(const ir::Tensor* scale, Constant(builder, draft, 1, "scale"));
  OCTAVO_TRY(const std::span<const float> scales, FloatScales(draft, *scale));
  OCTAVO_TRY(ir::Quant quant, BlocksOf(draft, shape));
  const ir::Shape expected = ir::ScaleShape(quant, shape);
  OCTAVO_CHECK(CheckShape(draft, "scale", *scale, expected));
  quant.scales.assign(scales.begin(), scales.end());
  quant.zero_points.assign(scales.size(), 0);
  if (!draft.Has(2)) return quant;
  OCTAVO_TRY(const ir::Tensor* zero, Constant(builder, draft, 2, "zero point"));
  OCTAVO_CHECK(CheckShape(draft, "zero point", *zero, expected));
  if (!ir::IsInteger(zero->dtype())) {
    return Invalid(draft, "zero point is of type {}, must be of integers", ir::Name(zero->dtype()));
  }
  for (size_t i = 0; i < quant.zero_points.size(); ++i) {
    quant.zero_points[i] = static_cast<int32_t>(zero->IntAt(static_cast<int64_t>(i)));
  }
  return quant;
}

}  // namespace

Status QuantizeBlocks(GraphBuilder& builder, const Draft& draft, ir::DType dtype) {
  const ir::ValueId x = draft.inputs[0].value;
  const ir::Type& real = builder.graph().type(x);
  if (!builder.graph().IsConstant(x) || real.dtype != ir::DType::kF32) {
    return Unsupported(draft, "blocked quantization is supported for float constants only");
  }
  ir::Type type{dtype, real.shape, {}, {}};
  OCTAVO_TRY(type.quant, ReadBlocks(builder, draft, real.shape));
  OCTAVO_CHECK(builder.AddOwn("Quantize", draft.name, draft.outputs[0], x, std::move(type)));
  return {};
}

Status DequantizeBlocks(GraphBuilder& builder, const Draft& draft) {
  ir::ValueId x = draft.inputs[0].value;
  const ir::Type type = builder.graph().type(x);
  OCTAVO_TRY(ir::Quant quant, ReadBlocks(builder, draft, type.shape));
  if (!type.blocked()) {
    OCTAVO_TRY(const ir::Tensor* integers, Constant(builder, draft, 0, "input"));
    if (!ir::IsInteger(integers->dtype())) {
      return Invalid(draft, "input is of type {}, must be of integers",
                     ir::Name(integers->dtype()));
    }
    if (draft.Has(2) && builder.graph().type(draft.inputs[2].value).dtype != type.dtype) {
      return Invalid(draft, "input is of type {}, its zero point of {}", ir::Name(type.dtype),
                     ir::Name(builder.graph().type(draft.inputs[2].value).dtype));
    }
  } else if (type.quant != quant && !builder.graph().IsConstant(x)) {
    return Unsupported(draft, "input '{}' has other blocks, scales or zero points",
                       builder.graph().name(x));
  }
  if (type.quant != quant) {
    OCTAVO_TRY(x, builder.AsBlocked(x, quant));
  }
  const ir::Type real{ir::DType::kF32, type.shape, {}, {}};
  OCTAVO_CHECK(builder.AddOwn("Dequantize", draft.name, draft.outputs[0], x, real));
  return {};
}

}  // namespace octavo::onnx
