// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Div, Max and Min of two 8-bit operands, with broadcasting, in either layout.
#include <algorithm>

#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/broadcast_plan.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
namespace {

using simd::BinaryCall;
using simd::BinaryFunction;

struct Op {
  std::string_view name;
  BinaryFunction simd::Kernels::*function;
};
constexpr Op kBinary[] = {{"Add", &simd::Kernels::add},      {"Sub", &simd::Kernels::subtract},
                          {"Mul", &simd::Kernels::multiply}, {"Div", &simd::Kernels::divide},
                          {"Max", &simd::Kernels::max},      {"Min", &simd::Kernels::min}};
constexpr std::string_view kArithmeticOps[] = {"Add", "Sub", "Mul", "Div"};
constexpr std::string_view kMaxMinOps[] = {"Max", "Min"};

bool MatchArithmetic(const NodeView& view) {
  return IsPlain8(view.out()) && IsPlain8(view.in(0)) && IsPlain8(view.in(1)) && FitsRows(view);
}

bool MatchMaxMin(const NodeView& view) {
  return view.node.inputs.size() == 2 && MatchArithmetic(view) &&
         SameQuantizedType(view.in(0), view.out()) && SameQuantizedType(view.in(1), view.out());
}

void RunRows(const RowPlan& plan, const BinaryCall& base, BinaryFunction function,
             const StepContext& context) {
  plan.For(*context.pool, [&](int64_t a, int64_t b, int64_t y, int64_t count) {
    BinaryCall part = base;
    part.a += a;
    part.b += b;
    part.y += y;
    part.count = count;
    function(part);
  });
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  const RowPlan plan = PlanRows(view);
  const auto op = std::ranges::find(kBinary, view.node.op->name, &Op::name);
  BinaryCall base{.a_steps = plan.a_steps,
                  .b_steps = plan.b_steps,
                  .a_quant = SimdQuant(view.in(0)),
                  .b_quant = SimdQuant(view.in(1)),
                  .y_quant = SimdQuant(view.out())};
  return Prepared{.run = [plan, base, function = simd::CurrentKernels().*(op->function)](
                             const StepContext& context) -> Status {
    BinaryCall call = base;
    call.a = context.in(0).values<uint8_t>().data();
    call.b = context.in(1).values<uint8_t>().data();
    call.y = context.out().mutable_values<uint8_t>().data();
    RunRows(plan, call, function, context);
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kSimdBinary{.name = "simd-arithmetic",
                                    .ops = kArithmeticOps,
                                    .layout = LayoutRule::kEither,
                                    .match = &MatchArithmetic,
                                    .prepare = &Prepare,
                                    .isa = &CurrentIsaName};

extern constexpr Kernel kSimdMaxMin{.name = "simd-max-min",
                                    .ops = kMaxMinOps,
                                    .layout = LayoutRule::kEither,
                                    .modes = Modes::kAll,
                                    .match = &MatchMaxMin,
                                    .prepare = &Prepare,
                                    .isa = &CurrentIsaName};

}  // namespace octavo::runtime
