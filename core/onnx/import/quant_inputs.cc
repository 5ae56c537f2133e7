// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/quant_inputs.h"

#include <cmath>

#include "core/ir/output_channels.h"

namespace octavo::onnx {

using ir::ValueId;

Status NeedInputs(const Draft& draft, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!draft.Has(i)) return Invalid(draft, "input {} must be given", i);
  }
  if (draft.outputs.size() != 1) return Invalid(draft, "must have 1 output");
  return {};
}

namespace {

Result<const ir::Tensor*> Parameter(const GraphBuilder& builder, const Draft& draft, size_t input,
                                    std::string_view what) {
  const ir::Tensor* tensor = builder.Elements(draft, input);
  if (tensor != nullptr && tensor->rank() <= 1) return tensor;
  const std::string& name = builder.graph().name(draft.inputs[input].value);
  if (tensor != nullptr) {
    return Invalid(draft, "{} '{}' has shape {}; without block_size it must be a scalar or a list",
                   what, name, ir::ToString(tensor->shape()));
  }
  return Failure(Error{.code = Code::kUnimplemented,
                       .message = fmt::format("{} '{}': {} '{}' is not a constant", draft.op,
                                              draft.name, what, name),
                       .reason = std::string(kDynamicQuantization),
                       .node = draft.name,
                       .field = name});
}

}  // namespace

Result<std::span<const float>> FloatScales(const Draft& draft, const ir::Tensor& scale) {
  if (scale.dtype() == ir::DType::kF32) return scale.values<float>();
  return Unsupported(draft, "a scale of type {} is not supported", ir::Name(scale.dtype()));
}

Result<std::span<const float>> ScalesOf(const GraphBuilder& builder, const Draft& draft,
                                        size_t input, const ir::Tensor& scale) {
  OCTAVO_TRY(const std::span<const float> scales, FloatScales(draft, scale));
  for (const float value : scales) {
    if (std::isfinite(value) && value > 0) continue;
    return Failure(Error{.code = Code::kInvalidArgument,
                         .message = fmt::format("{} '{}': scale {} must be positive and finite",
                                                draft.op, draft.name, value),
                         .reason = "INVALID_QUANTIZATION",
                         .node = draft.name,
                         .field = builder.graph().name(draft.inputs[input].value)});
  }
  return scales;
}

Result<ir::Quant> ReadQuant(const GraphBuilder& builder, const Draft& draft, size_t at,
                            int64_t axis, int64_t rank) {
  OCTAVO_TRY(const ir::Tensor* scale, Parameter(builder, draft, at, "scale"));
  OCTAVO_TRY(const std::span<const float> scales, ScalesOf(builder, draft, at, *scale));
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
  if (quant.scales.size() == 1) return quant;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Invalid(draft, "axis {} is outside of rank {}", axis, rank);
  quant.axis = static_cast<int>(axis);
  return quant;
}

ir::DType StorageOf(const GraphBuilder& builder, const Draft& draft, size_t input,
                    ir::DType fallback) {
  return draft.Has(input) ? builder.graph().type(draft.inputs[input].value).dtype : fallback;
}

Result<ValueId> QuantizedOperand(GraphBuilder& builder, const Draft& draft, size_t value,
                                 size_t parameters, int64_t axis) {
  const ValueId id = draft.inputs[value].value;
  const auto rank = static_cast<int64_t>(builder.graph().type(id).shape.size());
  OCTAVO_TRY(const ir::Quant quant, ReadQuant(builder, draft, parameters, axis, rank));
  return builder.AsQuantized(id, quant, draft.name);
}

Result<ValueId> QuantizedBias(GraphBuilder& builder, const Draft& draft, size_t bias, ValueId x,
                              ValueId w, int64_t channels) {
  const ir::Graph& graph = builder.graph();
  const ValueId value = draft.inputs[bias].value;
  if (!graph.type(x).quant->per_tensor()) {
    return Unsupported(draft, "'{}' has several scales, so the bias '{}' has none", graph.name(x),
                       graph.name(value));
  }
  const ir::Shape& shape = graph.type(value).shape;
  const ir::Quant& weight = *graph.type(w).quant;
  if (!weight.per_tensor() && (shape.empty() || shape.back() != channels)) {
    return Unsupported(draft, "bias '{}' of shape [{}] is not one value for each of {} scales",
                       graph.name(value), fmt::join(shape, ", "), channels);
  }
  return builder.AsQuantized(value, ir::BiasQuant(*graph.type(x).quant, weight, shape), draft.name);
}

Result<ir::Type> ResultType(GraphBuilder& builder, const Draft& draft, size_t parameters) {
  OCTAVO_TRY(ir::Quant quant, ReadQuant(builder, draft, parameters, 0, 0));
  return ir::Type{StorageOf(builder, draft, parameters + 1, ir::DType::kU8), {}, quant, {}};
}

}  // namespace octavo::onnx
