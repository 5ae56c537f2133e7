// SPDX-License-Identifier: Apache-2.0
// Activations between 8-bit types in the numerics modes that have integer formulas for them.
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/quant_params.h"
#include "core/runtime/kernels/shared/value_table.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kCurveOps[] = {"Sigmoid", "Tanh"};
constexpr std::string_view kLeakyReluOps[] = {"LeakyRelu"};
constexpr std::string_view kHardSwishOps[] = {"HardSwish"};
constexpr std::string_view kSoftmaxOps[] = {"Softmax"};

numerics::UnaryFormula FormulaOf(const NodeView& view) {
  if (!IsPlain8(view.in(0)) || !IsPlain8(view.out())) return {};
  return numerics::MakeUnary(*view.numerics, view.node.op->name, view.in(0), view.out(),
                             view.node.attributes);
}

bool Match(const NodeView& view) { return FormulaOf(view) != nullptr; }

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  return LookUp(view, Tabulate(view.in(0), FormulaOf(view)));
}

// ---------------------------------------------------------------- Softmax

int64_t AxisOf(const NodeView& view) {
  const int64_t axis = view.node.attributes.Int("axis", -1);
  return axis < 0 ? axis + static_cast<int64_t>(view.out().shape.size()) : axis;
}

numerics::RowFormula SoftmaxOf(const NodeView& view) {
  if (view.numerics->softmax == nullptr || !IsPlain8(view.in(0)) || !IsPlain8(view.out())) {
    return {};
  }
  if (view.out().shape.empty() || view.out().elements() == 0) return {};
  return view.numerics->softmax(view.in(0), view.out(), view.out().shape[AxisOf(view)]);
}

bool MatchSoftmax(const NodeView& view) { return SoftmaxOf(view) != nullptr; }

// The elements of one row, `stride` apart.
struct Row {
  int64_t begin = 0, stride = 1;
};

void RunRow(const numerics::RowFormula& formula, const Row& row, const ir::Tensor& x,
            std::span<int32_t> from, std::span<int32_t> to, ir::Tensor& y) {
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<int32_t>(x.IntAt(row.begin + static_cast<int64_t>(i) * row.stride));
  }
  formula(from, to);
  for (size_t i = 0; i < to.size(); ++i) {
    StoreInteger(y, row.begin + static_cast<int64_t>(i) * row.stride, to[i]);
  }
}

Result<Prepared> PrepareSoftmax(const NodeView& view, ThreadPool&) {
  const int64_t count = view.out().shape[AxisOf(view)];
  const int64_t stride = ir::StridesOf(view.out().shape)[AxisOf(view)];
  return Prepared{
      .run = [formula = SoftmaxOf(view), count, stride](const StepContext& context) -> Status {
        const int64_t rows = context.out().size() / count;
        const int64_t grain = std::max<int64_t>(1, kRowGrain / count / 8);
        context.pool->For(rows, grain, [&](int64_t begin, int64_t end) {
          std::vector<int32_t> from(count), to(count);
          for (int64_t r = begin; r < end; ++r) {
            const int64_t outer = r / stride, inner = r % stride;
            RunRow(formula, {outer * count * stride + inner, stride}, context.in(0), from, to,
                   context.out());
          }
        });
        return {};
      }};
}

}  // namespace

extern constexpr Kernel kModeCurve{.name = "mode-curve",
                                   .ops = kCurveOps,
                                   .layout = LayoutRule::kEither,
                                   .modes = Modes::kWithFormulas,
                                   .match = &Match,
                                   .prepare = &Prepare};

extern constexpr Kernel kModeLeakyRelu{.name = "mode-leaky-relu",
                                       .ops = kLeakyReluOps,
                                       .layout = LayoutRule::kEither,
                                       .modes = Modes::kWithFormulas,
                                       .match = &Match,
                                       .prepare = &Prepare};

extern constexpr Kernel kModeHardSwish{.name = "mode-hard-swish",
                                       .ops = kHardSwishOps,
                                       .layout = LayoutRule::kEither,
                                       .modes = Modes::kWithFormulas,
                                       .match = &Match,
                                       .prepare = &Prepare};

extern constexpr Kernel kModeSoftmax{.name = "mode-softmax",
                                     .ops = kSoftmaxOps,
                                     .modes = Modes::kWithFormulas,
                                     .match = &MatchSoftmax,
                                     .prepare = &PrepareSoftmax};

}  // namespace octavo::runtime
