// ReduceLogSumExp(x, axes): log(sum(e^x)), computed as m + log(sum(e^(x - m))) with the largest
// element m, so that it does not overflow.
#include <cmath>
#include <limits>

#include "core/base/math.h"
#include "core/ops/reduce.h"

namespace octavo::ops {
namespace {

// The sum so far as scale and remainder: e^most * sum.
struct Scaled {
  double most = -std::numeric_limits<double>::infinity();
  double sum = 0;

  Scaled() = default;
  explicit Scaled(double x) : most(x), sum(1) {}
};

Scaled Join(Scaled a, Scaled b) {
  if (std::isnan(a.most) || std::isnan(b.most)) return Scaled(a.most + b.most);
  if (b.most > a.most) std::swap(a, b);
  // Equal ones may both be infinite, and their difference NaN.
  const double factor = a.most == b.most ? 1.0 : math::Exp(b.most - a.most);
  a.sum += b.sum * factor;
  return a;
}

Status Reference(const ir::EvalContext& context) {
  return Reduce(context, Scaled(), &Join, [](const Scaled& total, double) {
    return std::isinf(total.most) ? total.most : total.most + math::Log(total.sum);
  });
}

}  // namespace

extern constexpr ir::OpDef kReduceLogSumExp{
    .name = "ReduceLogSumExp",
    .inputs = {1, 2},
    .attributes = kReduceAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferReduce,
    .reference = &Reference,
};

}  // namespace octavo::ops
