// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one operand, or of two with broadcast, in the element type.  Integers wrap around,
// so the least integer is its own negative and its own absolute value.
#include <cmath>

#include "core/ops/shared/pointwise.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

struct Absolute {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x < T(0) ? Modular<T>(0) - Modular<T>(x) : Modular<T>(x);
    } else {
      return std::fabs(x);
    }
  }
};

struct Negative {
  template <class T>
  auto operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return Modular<T>(0) - Modular<T>(x);
    } else {
      return -x;
    }
  }
};

// Integer division truncates; an integer divided by 0 is 0.
template <class T>
T Quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == T(0)) return T(0);
    if (std::is_signed_v<T> && b == T(-1))
      return static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(a));
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}
bool Quotient(bool a, bool) { return a; }  // inference rejects bool

// The result has the sign of b with fmod = 0 (integers) and the sign of a with fmod = 1.  An
// integer modulo 0 is 0.
template <class T>
T Remainder(T a, T b, bool sign_of_a) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    // The least integer modulo -1 would overflow.
    if (b == T(0) || (std::is_signed_v<T> && b == T(-1))) return T(0);
    const T rest = static_cast<T>(a % b);
    return !sign_of_a && rest != T(0) && (rest < T(0)) != (b < T(0)) ? static_cast<T>(rest + b)
                                                                     : rest;
  }
}
bool Remainder(bool a, bool, bool) { return a; }  // inference rejects bool

constexpr ir::AttrSpec kModAttributes[] = {{"fmod", ir::AttrKind::kInt}};

Status InferMod(ir::InferContext& context) {
  if (ir::IsFloat(context.dtype(0)) && context.node().attributes.Int("fmod", 0) == 0) {
    return context.Invalid("fmod must be 1 for {}", Name(context.dtype(0)));
  }
  return InferNumericBinary(context);
}

Status Mod(const ir::EvalContext& context) {
  const bool sign_of_a = context.node.attributes.Int("fmod", 0) != 0;
  return NumericBinary(context, [=](auto a, auto b) { return Remainder(a, b, sign_of_a); });
}

// Optional properties of a row with two operands.
struct BinaryTraits {
  float neutral = 0;
  bool commutative = false;
  bool sums = false;
};

// Builds a row from a generic lambda of two operands.
template <class Function>
constexpr OpDef Binary(std::string_view name, Function, const BinaryTraits& traits) {
  return {.name = name,
          .since = Since(1),
          .inputs = {2, 2},
          .quant = kFreeResult,
          .rescale = kFoldsRescale,
          .infer = &InferNumericBinary,
          .definition =
              [](const ir::EvalContext& context) { return NumericBinary(context, Function()); },
          .commutative = traits.commutative,
          .sums = traits.sums,
          .neutral = traits.neutral};
}

}  // namespace

extern constexpr OpDef kAbs =
    PointwiseInType("Abs", Since(1), Absolute(), {.infer = &InferNumericUnary});
extern constexpr OpDef kNeg =
    PointwiseInType("Neg", Since(1), Negative(), {.infer = &InferNumericUnary});
extern constexpr OpDef kSign = PointwiseInType(
    "Sign", Since(9), [](auto x) { return (x > decltype(x)(0)) - (x < decltype(x)(0)); },
    {.infer = &InferNumericUnary});

extern constexpr OpDef kAdd =
    Binary("Add", []<class T>(T a, T b) { return Modular<T>(a) + Modular<T>(b); },
           {.neutral = -0.0f, .commutative = true, .sums = true});
extern constexpr OpDef kSub =
    Binary("Sub", []<class T>(T a, T b) { return Modular<T>(a) - Modular<T>(b); },
           {.neutral = 0.0f, .sums = true});
extern constexpr OpDef kMul =
    Binary("Mul", []<class T>(T a, T b) { return Modular<T>(a) * Modular<T>(b); },
           {.neutral = 1.0f, .commutative = true});
extern constexpr OpDef kDiv =
    Binary("Div", [](auto a, auto b) { return Quotient(a, b); }, {.neutral = 1.0f});
extern constexpr OpDef kMod{
    .name = "Mod",
    .since = Since(10),
    .inputs = {2, 2},
    .attributes = kModAttributes,
    .quant = {.why = "its result is not continuous, so a rounding may change it by any amount"},
    .infer = &InferMod,
    .definition = &Mod,
};

}  // namespace octavo::ops
