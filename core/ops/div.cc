// Div(a, b): the quotient, element by element over the broadcast of both.  Integers truncate;
// an integer divided by 0 is 0.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

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
bool Quotient(bool a, bool) { return a; }  // inference refuses bool

Status Reference(const ir::EvalContext& context) {
  return NumericBinary(context, [](auto a, auto b) { return Quotient(a, b); });
}

}  // namespace

extern constexpr ir::OpDef kDiv{
    .name = "Div",
    .inputs = {2, 2},
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericBinary,
    .reference = &Reference,
};

}  // namespace octavo::ops
