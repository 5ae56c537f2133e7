// Pow(x, y): x^y, element by element over the broadcast of both; the result has x's type.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  const auto shape = Broadcast(context.shape(0), context.shape(1));
  if (!shape) {
    return context.Invalid("shapes {} and {} do not broadcast", ir::ToString(context.shape(0)),
                           ir::ToString(context.shape(1)));
  }
  if (!HasCType(context.dtype(0)) || !HasCType(context.dtype(1))) {
    return context.Unsupported("half-width floats are not supported");
  }
  context.SetResult(0, context.dtype(0), *shape);
  return {};
}

Status Reference(const ir::EvalContext& context) {
  ir::Tensor& result = context.out();
  const ir::Tensor y = BroadcastTo(context.in(1), result.shape(), context.pool);
  const ir::Tensor x = BroadcastTo(context.in(0), result.shape(), context.pool);
  VisitDType(result.dtype(), [&]<class T>(T) {
    const std::span<const T> base = x.values<T>();
    const std::span<T> to = result.mutable_values<T>();
    context.pool->For(result.size(), kElementwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        to[i] = static_cast<T>(math::Pow(static_cast<double>(base[i]), y.FloatAt(i)));
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
    .inputs = {2, 2},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant_of = &QuantOf,
    .rescale = kScalesItself,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
