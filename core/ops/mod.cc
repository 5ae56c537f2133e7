// Mod(a, b): the remainder, element by element over the broadcast of both.  fmod = 0 takes the
// sign of b (integers), fmod = 1 that of a.  An integer modulo 0 is 0.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"fmod", ir::AttrKind::kInt}};

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
bool Remainder(bool a, bool, bool) { return a; }  // inference refuses bool

Status Infer(ir::InferContext& context) {
  if (ir::IsFloat(context.dtype(0)) && context.node().attributes.Int("fmod", 0) == 0) {
    return context.Invalid("fmod must be 1 for {}", Name(context.dtype(0)));
  }
  return InferNumericBinary(context);
}

Status Reference(const ir::EvalContext& context) {
  const bool sign_of_a = context.node.attributes.Int("fmod", 0) != 0;
  return NumericBinary(context, [=](auto a, auto b) { return Remainder(a, b, sign_of_a); });
}

}  // namespace

extern constexpr ir::OpDef kMod{
    .name = "Mod",
    .inputs = {2, 2},
    .attributes = kAttributes,
    .quant = {.why = "a remainder is not continuous"},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
