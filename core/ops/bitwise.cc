// SPDX-License-Identifier: Apache-2.0
// Bitwise functions of integers, element by element with broadcast.
#include <limits>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr ir::AttrSpec kShiftAttributes[] = {{"direction", ir::AttrKind::kString, true}};

// The operands must be integers of one type; the result has their broadcast shape.
Status InferIntegers(ir::InferContext& context) {
  if (!ir::IsInteger(context.dtype(0))) {
    return context.Invalid("operands are {}, but must be integers", Name(context.dtype(0)));
  }
  return InferNumericBinary(context);
}

Status InferShift(ir::InferContext& context) {
  const std::string direction = context.node().attributes.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return context.Invalid("direction '{}' must be LEFT or RIGHT", direction).Field("direction");
  }
  if (ir::IsSigned(context.dtype(0))) {
    return context.Invalid("operands are {}, but must be unsigned", Name(context.dtype(0)));
  }
  return InferIntegers(context);
}

// Calls f(T{}) for the integer type of the elements.
template <class F>
void VisitInteger(ir::DType dtype, F&& f) {
  VisitDType(dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) f(T{});
  });
}

// result = f(a, b) in the unsigned type of the same width, which avoids undefined behaviour.
template <class F>
Status IntegerBinary(const ir::EvalContext& context, F&& f) {
  VisitInteger(context.out().dtype(), [&]<class T>(T) {
    using U = std::make_unsigned_t<T>;
    BroadcastLoop<T>(context.in(0), context.in(1), context.out(), *context.pool, [&](T a, T b) {
      return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
    });
  });
  return {};
}

Status BitwiseNot(const ir::EvalContext& context) {
  VisitInteger(context.out().dtype(), [&]<class T>(T) {
    std::ranges::transform(context.in(0).values<T>(), context.out().mutable_values<T>().begin(),
                           [](T x) { return static_cast<T>(~x); });
  });
  return {};
}

// A shift by at least the width gives 0.
Status BitShift(const ir::EvalContext& context) {
  const bool left = context.node.attributes.String("direction", "") == "LEFT";
  return IntegerBinary(context, [left](auto a, auto b) {
    using U = decltype(a);
    if (b >= std::numeric_limits<U>::digits) return U{0};
    return static_cast<U>(left ? uint64_t{a} << b : uint64_t{a} >> b);
  });
}

// Builds a row from a generic lambda of two operands.
template <class Function>
constexpr OpDef Bitwise(std::string_view name, Function) {
  return {.name = name,
          .since = Since(18),
          .inputs = {2, 2},
          .roles = ir::AllRoles(ir::Role::kParameter),
          .quant = kNotReal,
          .infer = &InferIntegers,
          .definition =
              [](const ir::EvalContext& context) { return IntegerBinary(context, Function()); },
          .commutative = true};
}

}  // namespace

extern constexpr OpDef kBitwiseAnd = Bitwise("BitwiseAnd", [](auto a, auto b) { return a & b; });
extern constexpr OpDef kBitwiseOr = Bitwise("BitwiseOr", [](auto a, auto b) { return a | b; });
extern constexpr OpDef kBitwiseXor = Bitwise("BitwiseXor", [](auto a, auto b) { return a ^ b; });
extern constexpr OpDef kBitwiseNot{
    .name = "BitwiseNot",
    .since = Since(18),
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kNotReal,
    .infer = &InferIntegers,
    .definition = &BitwiseNot,
};
extern constexpr OpDef kBitShift{
    .name = "BitShift",
    .since = Since(11),
    .inputs = {2, 2},
    .attributes = kShiftAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kNotReal,
    .infer = &InferShift,
    .definition = &BitShift,
};

}  // namespace octavo::ops
