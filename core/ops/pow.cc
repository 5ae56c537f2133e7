// SPDX-License-Identifier: Apache-2.0
// Pow(x, y): x^y, element by element with broadcast; the result has x's type.  Integer powers of
// integers are exact and wrap around; fractional results truncate.
#include <cmath>
#include <limits>

#include "core/base/math.h"
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

template <class T>
T Power(T x, int64_t y) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(math::Pow(double{x}, static_cast<double>(y)));
  } else {
    // For y < 0, 1 / x truncates to 0 except for x = 1 and x = -1, which are their own reciprocals;
    // 1 / 0 is 0.
    const bool unit = x == T(1) || (std::is_signed_v<T> && x == T(-1));
    if (y < 0 && !unit) return T(0);
    auto left = y < 0 ? uint64_t{0} - static_cast<uint64_t>(y) : static_cast<uint64_t>(y);
    uint64_t power = 1;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is extended, as for any other T.
    for (auto square = static_cast<uint64_t>(x); left != 0; left >>= 1, square *= square) {
      if (left & 1) power *= square;
    }
    return static_cast<T>(power);
  }
}

template <class T>
T Power(T x, double y) {
  const double power = math::Pow(static_cast<double>(x), y);
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(power);
  } else {
    // Saturates, because converting a value out of T's range is undefined.  As a double, a bound
    // may exceed T's own by one.
    if (std::isnan(power)) return T(0);
    if (power >= static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
    if (power <= static_cast<double>(std::numeric_limits<T>::lowest())) {
      return std::numeric_limits<T>::lowest();
    }
    return static_cast<T>(power);
  }
}

Status Infer(ir::InferContext& context) {
  const auto shape = Broadcast(context.shape(0), context.shape(1));
  if (!shape) {
    return context.Invalid("shapes {} and {} do not broadcast", ir::ToString(context.shape(0)),
                           ir::ToString(context.shape(1)));
  }
  for (size_t i = 0; i < 2; ++i) {
    if (context.dtype(i) == ir::DType::kBool) {
      return context.Unsupported("operand {} of type {} is not supported", i,
                                 Name(context.dtype(i)));
    }
  }
  context.SetResult(0, context.dtype(0), *shape);
  return {};
}

Status Definition(const ir::EvalContext& context) {
  ir::Tensor& result = context.out();
  const ir::Tensor y = BroadcastTo(context.in(1), result.shape(), context.pool);
  const ir::Tensor x = BroadcastTo(context.in(0), result.shape(), context.pool);
  const bool whole = ir::IsInteger(y.dtype());
  VisitDType(result.dtype(), [&]<class T>(T) {
    const std::span<const T> base = x.values<T>();
    const std::span<T> to = result.mutable_values<T>();
    context.pool->For(result.size(), kElementwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        to[i] = whole ? Power(base[i], y.IntAt(i)) : Power(base[i], y.FloatAt(i));
      }
    });
  });
  return {};
}

ir::QuantRule QuantOf(const ir::Graph& graph, const ir::Node& node) {
  const ir::ValueId exponent = node.input(1);
  if (graph.IsConstant(exponent) && graph.type(exponent).elements() == 1) return kFreeResult;
  return {.why = "its exponent is not one constant"};
}

}  // namespace

extern constexpr ir::OpDef kPow{
    .name = "Pow",
    .since = ir::Since(1),
    .inputs = {2, 2},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant_of = &QuantOf,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
