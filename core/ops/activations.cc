// SPDX-License-Identifier: Apache-2.0
// Activation functions of one operand, element by element.  Clip and PRelu have their own files.
#include <algorithm>
#include <cmath>

#include "core/base/math.h"
#include "core/base/math_each.h"
#include "core/ops/shared/pointwise.h"
#include "core/ops/shared/useful_range.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr ir::AttrSpec kAlpha[] = {{"alpha", ir::AttrKind::kFloat}};
constexpr ir::AttrSpec kAlphaBeta[] = {{"alpha", ir::AttrKind::kFloat},
                                       {"beta", ir::AttrKind::kFloat}};
constexpr ir::AttrSpec kAlphaGamma[] = {{"alpha", ir::AttrKind::kFloat},
                                        {"gamma", ir::AttrKind::kFloat}};
constexpr ir::AttrSpec kApproximate[] = {{"approximate", ir::AttrKind::kString}};
constexpr ir::AttrSpec kLambdBias[] = {{"lambd", ir::AttrKind::kFloat},
                                       {"bias", ir::AttrKind::kFloat}};

// ---------------------------------------------------------------- piecewise linear

// x for x >= 0, else alpha * x.
Status LeakyRelu(const ir::EvalContext& context) {
  const float alpha = context.node.attributes.Float("alpha", 0.01f);
  return NumericUnary(context, [=](auto x) {
    return x < decltype(x)(0) ? static_cast<decltype(x)>(alpha * x) : x;
  });
}

// x for x > alpha, else 0.
Status ThresholdedRelu(const ir::EvalContext& context) {
  const float alpha = context.node.attributes.Float("alpha", 1.0f);
  return NumericUnary(context, [=](auto x) { return x > alpha ? x : decltype(x)(0); });
}

// clip(alpha * x + beta, 0, 1).
Status HardSigmoid(const ir::EvalContext& context) {
  const float alpha = context.node.attributes.Float("alpha", 0.2f);
  const float beta = context.node.attributes.Float("beta", 0.5f);
  return NumericUnary(context, [=](auto x) {
    using Real = std::conditional_t<std::is_same_v<decltype(x), double>, double, float>;
    const Real y = alpha * static_cast<Real>(x) + beta;
    return y < 0 ? Real(0) : y > 1 ? Real(1) : y;
  });
}

double HardSwish(double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }

// x + bias for x < -lambd, x - bias for x > lambd, else 0.
Status Shrink(const ir::EvalContext& context) {
  const double lambd = context.node.attributes.Float("lambd", 0.5f);
  const double bias = context.node.attributes.Float("bias", 0.0f);
  return NumericUnary(context, [=](auto x) {
    const auto value = static_cast<double>(x);
    return FromReal<decltype(x)>(value < -lambd  ? value + bias
                                 : value > lambd ? value - bias
                                                 : 0.0);
  });
}

// ---------------------------------------------------------------- exponential

// x for x >= 0, else alpha * (e^x - 1).
Status Elu(const ir::EvalContext& context) {
  const double alpha = context.node.attributes.Float("alpha", 1.0f);
  return FloatUnary(context, [=](double x) { return x < 0 ? alpha * math::Expm1(x) : x; });
}

// x for x >= 0, else alpha * (e^(x / alpha) - 1).
Status Celu(const ir::EvalContext& context) {
  const double alpha = context.node.attributes.Float("alpha", 1.0f);
  return FloatUnary(context, [=](double x) { return x < 0 ? alpha * math::Expm1(x / alpha) : x; });
}

// gamma * x for x >= 0, else gamma * alpha * (e^x - 1).
Status Selu(const ir::EvalContext& context) {
  const double alpha = context.node.attributes.Float("alpha", 1.67326319217681884765625f);
  const double gamma = context.node.attributes.Float("gamma", 1.05070102214813232421875f);
  return FloatUnary(context,
                    [=](double x) { return gamma * (x < 0 ? alpha * math::Expm1(x) : x); });
}

// log(1 + e^x), without overflow.
double Softplus(double x) {
  return x > 0 ? x + math::Log1p(math::Exp(-x)) : math::Log1p(math::Exp(x));
}

double Softsign(double x) { return x / (1 + (x < 0 ? -x : x)); }

double Mish(double x) { return x * math::Tanh(Softplus(x)); }

// x * sigmoid(alpha * x).
Status Swish(const ir::EvalContext& context) {
  const double alpha = context.node.attributes.Float("alpha", 1);
  return FloatUnaryBlocks(context, [alpha](std::span<double> x) {
    double values[kUnaryBlock];
    const std::span<double> gates(values, x.size());
    for (size_t i = 0; i < x.size(); ++i) gates[i] = alpha * x[i];
    math::SigmoidEach(gates);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= gates[i];
  });
}

// x becomes 0.5 * x * (1 + curve(argument(x))); `curve` works in place.
template <class Argument>
void Weigh(std::span<double> x, Argument&& argument, void (*curve)(std::span<double>)) {
  double values[kUnaryBlock];
  const std::span<double> curved(values, x.size());
  for (size_t i = 0; i < x.size(); ++i) curved[i] = argument(x[i]);
  curve(curved);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.5 * x[i] * (1 + curved[i]);
}

// x * Phi(x), with Phi the cumulative normal distribution, or Phi's approximation for
// approximate=tanh.
Status Gelu(const ir::EvalContext& context) {
  if (context.node.attributes.String("approximate", "none") == "tanh") {
    return FloatUnaryBlocks(context, [](std::span<double> values) {
      Weigh(
          values, [](double x) { return 0.7978845608028654 * (x + 0.044715 * x * x * x); },
          &math::TanhEach);
    });
  }
  return FloatUnaryBlocks(context, [](std::span<double> values) {
    Weigh(
        values, [](double x) { return x * 0.7071067811865476; }, &math::ErfEach);
  });
}

}  // namespace

extern constexpr OpDef kRelu = PointwiseInType(
    "Relu", Since(1), [](auto x) { return x < decltype(x)(0) ? decltype(x)(0) : x; },
    {.infer = &InferNumericUnary, .clamps = true});
extern constexpr OpDef kLeakyRelu =
    Pointwise<&LeakyRelu>("LeakyRelu", Since(1), {.attributes = kAlpha});
extern constexpr OpDef kThresholdedRelu =
    Pointwise<&ThresholdedRelu>("ThresholdedRelu", Since(10), {.attributes = kAlpha});
extern constexpr OpDef kHardSigmoid = Pointwise<&HardSigmoid>(
    "HardSigmoid", Since(1), {.attributes = kAlphaBeta, .quant = FixedRange(0, 1)});

std::optional<ir::Range> UsefulRange(const ir::Node& node) {
  if (node.op != &kHardSigmoid) return std::nullopt;
  const float alpha = node.attributes.Float("alpha", 0.2f);
  const float beta = node.attributes.Float("beta", 0.5f);
  if (!(std::fabs(alpha) > 1e-6f)) return std::nullopt;
  const float at_zero = -beta / alpha, at_one = (1 - beta) / alpha;
  // A range that ends at 0 is not shifted.
  const float step = beta == 0 || beta == 1 ? 0 : std::fabs(at_one - at_zero) / 250;
  return ir::Range{std::min(at_zero, at_one) - step, std::max(at_zero, at_one) + step};
}

extern constexpr OpDef kHardSwish = Pointwise<&HardSwish>("HardSwish", Since(14));
extern constexpr OpDef kShrink =
    Pointwise<&Shrink>("Shrink", Since(9), {.attributes = kLambdBias, .infer = &InferNumericUnary});

extern constexpr OpDef kElu = Pointwise<&Elu>("Elu", Since(1), {.attributes = kAlpha});
extern constexpr OpDef kCelu = Pointwise<&Celu>("Celu", Since(12), {.attributes = kAlpha});
extern constexpr OpDef kSelu = Pointwise<&Selu>("Selu", Since(1), {.attributes = kAlphaGamma});
extern constexpr OpDef kSigmoid =
    Pointwise<&math::SigmoidEach>("Sigmoid", Since(1), {.quant = FixedRange(0, 1)});
extern constexpr OpDef kSoftplus = Pointwise<&Softplus>("Softplus", Since(1));
extern constexpr OpDef kSoftsign = Pointwise<&Softsign>("Softsign", Since(1));
extern constexpr OpDef kMish = Pointwise<&Mish>("Mish", Since(18));
extern constexpr OpDef kSwish = Pointwise<&Swish>("Swish", Since(24), {.attributes = kAlpha});
extern constexpr OpDef kGelu = Pointwise<&Gelu>("Gelu", Since(20), {.attributes = kApproximate});

}  // namespace octavo::ops
