// SPDX-License-Identifier: Apache-2.0
// Reduce*(x, axes) {keepdims, noop_with_empty_axes}: absent axes mean all axes.  Combines elements
// in row-major order: real values in double, integer sums and products modulo 2^64.
#include <cmath>
#include <limits>

#include "core/base/math.h"
#include "core/ops/shared/reduce.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr auto kAdd = [](double a, double b) { return a + b; };
constexpr auto kAddMagnitude = [](double a, double b) { return a + std::fabs(b); };
constexpr auto kAddSquare = [](double a, double b) { return a + b * b; };
constexpr auto kAsItIs = [](auto total, double) { return total; };

Status L1(const ir::EvalContext& context) { return Reduce(context, 0.0, kAddMagnitude, kAsItIs); }

Status L2(const ir::EvalContext& context) {
  return Reduce(context, 0.0, kAddSquare, [](double sum, double) { return std::sqrt(sum); });
}

Status LogSum(const ir::EvalContext& context) {
  return Reduce(context, 0.0, kAdd, [](double sum, double) { return math::Log(sum); });
}

Status Mean(const ir::EvalContext& context) {
  return Reduce(context, 0.0, kAdd, [](double sum, double count) { return sum / count; });
}

Status Sum(const ir::EvalContext& context) {
  if (ir::IsInteger(context.in(0).dtype())) {
    return Reduce(
        context, uint64_t{0}, [](uint64_t a, uint64_t b) { return a + b; }, kAsItIs);
  }
  return Reduce(context, 0.0, kAdd, kAsItIs);
}

Status SumSquare(const ir::EvalContext& context) {
  return Reduce(context, 0.0, kAddSquare, kAsItIs);
}

Status Product(const ir::EvalContext& context) {
  if (ir::IsInteger(context.in(0).dtype())) {
    return Reduce(
        context, uint64_t{1}, [](uint64_t a, uint64_t b) { return a * b; }, kAsItIs);
  }
  return Reduce(
      context, 1.0, [](double a, double b) { return a * b; }, kAsItIs);
}

// Computes log(sum(e^x)) as m + log(sum(e^(x - m))), with m the largest element, to avoid overflow.
// The sum so far is e^most * sum.
struct Scaled {
  double most = -std::numeric_limits<double>::infinity();
  double sum = 0;

  Scaled() = default;
  explicit Scaled(double x) : most(x), sum(1) {}
};

Scaled Join(Scaled a, Scaled b) {
  if (std::isnan(a.most) || std::isnan(b.most)) return Scaled(a.most + b.most);
  if (b.most > a.most) std::swap(a, b);
  // Equal maxima may both be infinite; their difference would be NaN.
  const double factor = a.most == b.most ? 1.0 : math::Exp(b.most - a.most);
  a.sum += b.sum * factor;
  return a;
}

Status LogSumExp(const ir::EvalContext& context) {
  return Reduce(context, Scaled(), &Join, [](const Scaled& total, double) {
    return std::isinf(total.most) ? total.most : total.most + math::Log(total.sum);
  });
}

Status Greatest(const ir::EvalContext& context) {
  return ReduceExtreme(context, [](auto x, auto best) { return x > best; });
}

Status Least(const ir::EvalContext& context) {
  return ReduceExtreme(context, [](auto x, auto best) { return x < best; });
}

constexpr OpDef ReductionRow(std::string_view name, Status (*definition)(const ir::EvalContext&)) {
  return {.name = name,
          .since = Since(1),
          .inputs = {1, 2},
          .attributes = kReduceAttributes,
          .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
          .quant = kFreeResult,
          .rescale = kFoldsRescale,
          .infer = &InferReduce,
          .definition = definition};
}

// The op selects an element, so it is a same-scale op.
constexpr OpDef SelectionRow(std::string_view name, Status (*definition)(const ir::EvalContext&)) {
  OpDef row = ReductionRow(name, definition);
  row.quant = kSameScale;
  row.rescale = kMovesRescale;
  row.moves_data = ir::Movement::kSelect;
  return row;
}

}  // namespace

extern constexpr OpDef kReduceL1 = ReductionRow("ReduceL1", &L1);
extern constexpr OpDef kReduceL2 = ReductionRow("ReduceL2", &L2);
extern constexpr OpDef kReduceLogSum = ReductionRow("ReduceLogSum", &LogSum);
extern constexpr OpDef kReduceLogSumExp = ReductionRow("ReduceLogSumExp", &LogSumExp);
extern constexpr OpDef kReduceMax = SelectionRow("ReduceMax", &Greatest);
extern constexpr OpDef kReduceMean = ReductionRow("ReduceMean", &Mean);
extern constexpr OpDef kReduceMin = SelectionRow("ReduceMin", &Least);
extern constexpr OpDef kReduceProd = ReductionRow("ReduceProd", &Product);
extern constexpr OpDef kReduceSum = ReductionRow("ReduceSum", &Sum);
extern constexpr OpDef kReduceSumSquare = ReductionRow("ReduceSumSquare", &SumSquare);

}  // namespace octavo::ops
