// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/blocks.h"

#include "core/onnx/import/quant_inputs.h"

namespace octavo::onnx {
namespace {

// The partition of x: `outer` slices of `extent` elements of `inner` numbers, in blocks of `size`
// elements.
struct Blocks {
  size_t axis = 0;
  int64_t outer = 1, extent = 1, inner = 1, size = 1;

  int64_t count() const { return extent / size + (extent % size != 0 ? 1 : 0); }
  int64_t BlockOf(int64_t o, int64_t e, int64_t i) const {
    return (o * count() + e / size) * inner + i;
  }
};

Result<const ir::Tensor*> Constant(const GraphBuilder& builder, const Draft& draft, size_t input,
                                   std::string_view what) {
  const ir::Tensor* tensor = ConstantOf(builder.graph(), draft, input);
  if (tensor != nullptr) return tensor;
  return Unsupported(
      draft, "{} '{}' is not a constant; blocked quantization is supported for constants only",
      what, builder.graph().name(draft.inputs[input].value));
}

Result<Blocks> BlocksOf(const Draft& draft, const ir::Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = draft.attributes.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Invalid(draft, "axis {} is outside of rank {}", axis, rank);
  Blocks blocks{.axis = static_cast<size_t>(axis), .size = draft.attributes.Int("block_size", 0)};
  if (blocks.size < 1) return Invalid(draft, "block_size {} must be at least 1", blocks.size);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t extent = shape[static_cast<size_t>(i)];
    (i < axis ? blocks.outer : i == axis ? blocks.extent : blocks.inner) *= extent;
  }
  return blocks;
}

Status CheckShape(const Draft& draft, std::string_view what, const ir::Tensor& tensor,
                  const ir::Shape& x, const Blocks& blocks) {
  ir::Shape expected = x;
  expected[blocks.axis] = blocks.count();
  if (tensor.shape() == expected) return {};
  return Invalid(draft, "{} has shape {}, must have {}", what, ir::ToString(tensor.shape()),
                 ir::ToString(expected));
}

}  // namespace

Status DequantizeBlocks(GraphBuilder& builder, const Draft& draft) {
  OCTAVO_TRY(const ir::Tensor* x, Constant(builder, draft, 0, "input"));
  OCTAVO_TRY(const ir::Tensor* scale, Constant(builder, draft, 1, "scale"));
  OCTAVO_TRY(const std::span<const float> scales, ScalesOf(builder, draft, 1, *scale));
  if (!ir::IsInteger(x->dtype())) {
    return Invalid(draft, "input is of type {}, must be of integers", ir::Name(x->dtype()));
  }
  OCTAVO_TRY(const Blocks blocks, BlocksOf(draft, x->shape()));
  OCTAVO_CHECK(CheckShape(draft, "scale", *scale, x->shape(), blocks));
  const ir::Tensor* zero = nullptr;
  if (draft.Has(2)) {
    OCTAVO_TRY(zero, Constant(builder, draft, 2, "zero point"));
    OCTAVO_CHECK(CheckShape(draft, "zero point", *zero, x->shape(), blocks));
    if (zero->dtype() != x->dtype()) {
      return Invalid(draft, "input is of type {}, its zero point of {}", ir::Name(x->dtype()),
                     ir::Name(zero->dtype()));
    }
  }
  ir::Tensor real(ir::DType::kF32, x->shape());
  auto out = real.mutable_values<float>();
  int64_t at = 0;
  for (int64_t o = 0; o < blocks.outer; ++o) {
    for (int64_t e = 0; e < blocks.extent; ++e) {
      for (int64_t i = 0; i < blocks.inner; ++i, ++at) {
        const int64_t block = blocks.BlockOf(o, e, i);
        const int64_t code = x->IntAt(at) - (zero != nullptr ? zero->IntAt(block) : 0);
        out[static_cast<size_t>(at)] =
            static_cast<float>(code) * scales[static_cast<size_t>(block)];
      }
    }
  }
  builder.graph().AddConstant(draft.outputs[0], std::move(real));
  builder.Warn({.code = "blocks_dequantized",
                .message = fmt::format("'{}' is quantized in blocks of {}, which types of Octavo "
                                       "cannot express; it was dequantized at import",
                                       draft.outputs[0], blocks.size),
                .node = draft.name});
  return {};
}

}  // namespace octavo::onnx
