// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/half.h"

#include <algorithm>
#include <cmath>

#include "core/ir/graph.h"

namespace octavo::float_exec {
namespace {

using ir::DType;
using ir::Tensor;

// Rounds to a 16-bit float format with `kBits` explicit fraction bits.
template <int kBits>
uint16_t Round(double value) {
  constexpr int kExponents = 15 - kBits;
  constexpr int kBias = (1 << (kExponents - 1)) - 1;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  constexpr uint16_t kInfinity = ((1 << kExponents) - 1) << kBits;
  if (std::isnan(value)) return sign | kInfinity | (1 << (kBits - 1));
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return sign | kInfinity;
  if (magnitude == 0) return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - kBias);
  // In units of the last place.  The current rounding mode is round to nearest, ties to even.
  const auto code = static_cast<int64_t>(std::nearbyint(std::ldexp(magnitude, kBits - exponent)));
  // A carry out of the fraction increments the exponent.
  const int64_t bits = (static_cast<int64_t>(exponent + kBias - 1) << kBits) + code;
  return sign | static_cast<uint16_t>(std::min<int64_t>(bits, kInfinity));
}

bool IsHalf(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

Tensor Widened(const Tensor& half, DType wide) {
  Tensor tensor(wide, half.shape());
  for (int64_t i = 0; i < half.size(); ++i) {
    if (wide == DType::kF64) {
      tensor.mutable_values<double>()[i] = half.FloatAt(i);
    } else {
      tensor.mutable_values<float>()[i] = static_cast<float>(half.FloatAt(i));
    }
  }
  return tensor;
}

void Narrow(const Tensor& wide, Tensor& half) {
  const auto to = half.mutable_values<uint16_t>();
  const bool f16 = half.dtype() == DType::kF16;
  for (int64_t i = 0; i < wide.size(); ++i) {
    to[i] = f16 ? ToF16(wide.FloatAt(i)) : ToBF16(wide.FloatAt(i));
  }
}

Status RunWidened(const ir::EvalContext& context) {
  bool has_f64 = false;
  for (const Tensor* input : context.inputs) has_f64 |= input && input->dtype() == DType::kF64;
  const DType wide = has_f64 ? DType::kF64 : DType::kF32;
  std::vector<Tensor> operands;
  std::vector<const Tensor*> inputs;
  operands.reserve(context.inputs.size());
  for (const Tensor* input : context.inputs) {
    inputs.push_back(input);
    if (input == nullptr || !IsHalf(input->dtype())) continue;
    operands.push_back(Widened(*input, wide));
    inputs.back() = &operands.back();
  }
  std::vector<Tensor> results;
  for (const Tensor& result : context.results) {
    results.push_back(IsHalf(result.dtype()) ? Tensor(wide, result.shape()) : result);
  }
  OCTAVO_CHECK(context.node.op->definition(
      {.node = context.node, .inputs = inputs, .results = results, .pool = context.pool}));
  for (size_t i = 0; i < results.size(); ++i) {
    if (IsHalf(context.results[i].dtype())) Narrow(results[i], context.results[i]);
  }
  return {};
}

}  // namespace

uint16_t ToF16(double value) { return Round<10>(value); }
uint16_t ToBF16(double value) { return Round<7>(value); }

Status RunDefinition(const ir::EvalContext& context) {
  const auto half = [](const Tensor* tensor) { return tensor && IsHalf(tensor->dtype()); };
  const bool any = std::ranges::any_of(context.inputs, half) ||
                   std::ranges::any_of(context.results, [&](const Tensor& r) { return half(&r); });
  return any ? RunWidened(context) : context.node.op->definition(context);
}

}  // namespace octavo::float_exec
