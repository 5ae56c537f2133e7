// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/product_operands.h"

#include <cstring>

#include "core/ops/shared/data_op.h"
#include "core/runtime/kernels/mode_requantize.h"
#include "core/runtime/kernels/shared/requantize.h"

namespace octavo::runtime {

bool IsFloatOfProduct(const NodeView& view) {
  return view.numerics->qlinear && view.out().dtype == ir::DType::kF32;
}

bool IsIntegerProduct(const NodeView& view, int weight_axis, size_t bias) {
  const ir::Type& x = view.in(0);
  const ir::Type& w = view.in(1);
  const ir::Type& y = view.out();
  if (!x.quantized() || !w.quantized()) return false;
  if (y.quantized() ? !y.quant->per_tensor() : !IsFloatOfProduct(view)) return false;
  if (!x.quant->per_tensor() || w.quant->block != 0) return false;
  if (ir::SizeOf(x.dtype) > 2 || ir::SizeOf(w.dtype) > 2) return false;
  if (w.quant->axis && *w.quant->axis != weight_axis) return false;
  const auto scales = static_cast<int64_t>(w.quant->scales.size());
  if (!view.numerics->qlinear && ModeRequantizer::Of(view, scales) == nullptr) return false;
  if (!view.Has(bias)) return true;
  const ir::Type& b = view.in(bias);
  return b.quantized() && b.dtype == ir::DType::kI32;
}

bool IsInt8Product(const NodeView& view, int weight_axis, size_t bias) {
  return IsIntegerProduct(view, weight_axis, bias) && ir::SizeOf(view.in(0).dtype) == 1 &&
         ir::SizeOf(view.in(1).dtype) == 1 &&
         (ir::SizeOf(view.out().dtype) == 1 || IsFloatOfProduct(view)) &&
         view.constant(1) != nullptr && (!view.Has(bias) || view.constant(bias) != nullptr);
}

void Center(const ir::Tensor& x, const ir::Quant& quant, int32_t* centered) {
  int64_t stride = 1, channels = 1;
  if (quant.axis) {
    stride = ir::StridesOf(x.shape())[*quant.axis];
    channels = x.shape()[*quant.axis];
  }
  ops::VisitDType(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    for (int64_t begin = 0; begin < x.size(); begin += quant.axis ? stride : x.size()) {
      const int64_t end = quant.axis ? begin + stride : x.size();
      const int32_t zero = quant.zero_point(begin / stride % channels);
      for (int64_t i = begin; i < end; ++i) centered[i] = static_cast<int32_t>(from[i]) - zero;
    }
  });
}

std::vector<int64_t> BiasOf(const ir::Tensor* bias, int64_t channels) {
  std::vector<int64_t> values(channels, 0);
  for (int64_t c = 0; bias != nullptr && c < channels; ++c) {
    values[c] = bias->IntAt(bias->size() == 1 ? 0 : c);
  }
  return values;
}

std::span<const int32_t> ConstantBias(const NodeView& view, size_t input) {
  const ir::Tensor* bias = view.constant(input);
  return bias ? bias->values<int32_t>() : std::span<const int32_t>();
}

int8::Activation ActivationOf(const ir::Type& type) {
  return {type.dtype == ir::DType::kU8 ? int8::Storage::kU8 : int8::Storage::kS8,
          type.quant->zero_point()};
}

int8::Weights WeightsOf(const ir::Type& type, const ir::Tensor& weights) {
  return {weights.raw(), type.dtype == ir::DType::kU8 ? int8::Storage::kU8 : int8::Storage::kS8,
          type.quant->zero_points};
}

std::vector<float> MultipliersOf(const NodeView& view, int64_t channels) {
  const ir::Quant &x = *view.in(0).quant, &w = *view.in(1).quant;
  if (view.out().quantized()) return Multipliers(x, w, *view.out().quant, channels);
  return AccumulatorScales(x, w, channels);
}

int8::Requantization RequantizationOf(const ir::Type& type, std::span<const float> multipliers) {
  if (!type.quantized()) return {.output = int8::Output::kFloat, .multipliers = multipliers};
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  return {.output = type.dtype == ir::DType::kU8 ? int8::Output::kU8 : int8::Output::kS8,
          .multipliers = multipliers,
          .zero_point = type.quant->zero_point(),
          .lowest = static_cast<int32_t>(range.min),
          .highest = static_cast<int32_t>(range.max)};
}

void StoreInteger(ir::Tensor& tensor, int64_t i, int32_t value) {
  const int size = ir::SizeOf(tensor.dtype());
  // Little-endian: the low bytes of the int32 are the stored integer.
  std::memcpy(tensor.mutable_raw() + i * size, &value, size);
}

}  // namespace octavo::runtime
