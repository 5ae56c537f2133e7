// SPDX-License-Identifier: Apache-2.0
// Ops on any number of operands, element by element with broadcast.
#include <limits>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Combines the operands from the left: f(f(a, b), c), in the element type.
template <class F>
Status CombineAll(const ir::EvalContext& context, F&& f) {
  ir::Tensor& result = context.out();
  VisitDType(result.dtype(), [&]<class T>(T) {
    const auto combine = [&](T a, T b) { return static_cast<T>(f(a, b)); };
    ir::Tensor left = BroadcastTo(context.in(0), result.shape(), context.pool);
    for (size_t i = 1; i < context.inputs.size(); ++i) {
      ir::Tensor next(result.dtype(), result.shape());
      BroadcastLoop<T>(left, context.in(i), next, *context.pool, combine);
      left = std::move(next);
    }
    std::ranges::copy(left.values<T>(), result.mutable_values<T>().begin());
  });
  return {};
}

// NaN if an operand is NaN.
Status Greatest(const ir::EvalContext& context) {
  return CombineAll(context, [](auto a, auto b) { return a > b || a != a ? a : b; });
}
Status Least(const ir::EvalContext& context) {
  return CombineAll(context, [](auto a, auto b) { return a < b || a != a ? a : b; });
}

// Integers wrap around.
Status Sum(const ir::EvalContext& context) {
  return CombineAll(context, []<class T>(T a, T b) { return Modular<T>(a) + Modular<T>(b); });
}

Status Mean(const ir::EvalContext& context) {
  OCTAVO_CHECK(Sum(context));
  const auto count = static_cast<float>(context.inputs.size());
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    for (T& value : context.out().mutable_values<T>()) value = static_cast<T>(value / count);
  });
  return {};
}

struct VariadicTraits {
  ir::Movement moves_data = ir::Movement::kNone;
  std::optional<float> neutral = {};
};

constexpr OpDef Variadic(std::string_view name, Status (*definition)(const ir::EvalContext&),
                         const VariadicTraits& traits = {}) {
  return {.name = name,
          .since = Since(1),
          .inputs = {1, ir::kManyInputs},
          .quant = kFreeResult,
          .rescale = kFoldsRescale,
          .infer = &InferNumericBinary,
          .definition = definition,
          .commutative = true,
          .moves_data = traits.moves_data,
          .identity_of = &OnlyInput,
          .neutral = traits.neutral};
}

}  // namespace

extern constexpr OpDef kMax =
    Variadic("Max", &Greatest, {.moves_data = ir::Movement::kSelect, .neutral = -kInfinity});
extern constexpr OpDef kMin =
    Variadic("Min", &Least, {.moves_data = ir::Movement::kSelect, .neutral = kInfinity});
extern constexpr OpDef kMean = Variadic("Mean", &Mean);
extern constexpr OpDef kSum = Variadic("Sum", &Sum);

}  // namespace octavo::ops
