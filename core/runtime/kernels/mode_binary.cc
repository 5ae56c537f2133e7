// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Max and Min in the numerics modes that have formulas for them: 8-bit operands by a
// table of all pairs of values, wider operands element by element.
#include <array>
#include <memory>

#include "core/ops/shared/data_op.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/broadcast_plan.h"
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/value_table.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kOps[] = {"Add", "Sub", "Mul", "Max", "Min"};

bool IsWidthDefined(const NodeView& view) {
  const int size = ir::SizeOf(view.out().dtype);
  if (ir::SizeOf(view.in(0).dtype) != size || ir::SizeOf(view.in(1).dtype) != size) return false;
  return size == 1 ||
         (view.numerics->requantize_int16 != nullptr && view.out().dtype == ir::DType::kI16);
}

numerics::BinaryFormula FormulaOf(const NodeView& view) {
  return numerics::MakeBinary(*view.numerics, view.node.op->name,
                              {view.in(0), view.in(1), view.out()});
}

bool Match(const NodeView& view) {
  return view.node.inputs.size() == 2 && IsNarrowPerTensor(view.in(0)) &&
         IsNarrowPerTensor(view.in(1)) && IsNarrowPerTensor(view.out()) && IsWidthDefined(view) &&
         FitsRows(view) && FormulaOf(view) != nullptr;
}

// table[a * 256 + b] is the result of the stored bytes a and b.
using PairTable = std::array<uint8_t, 256 * 256>;

int32_t Centered(const ir::Type& type, int byte) {
  const int32_t q = type.dtype == ir::DType::kI8 ? static_cast<int8_t>(byte) : byte;
  return q - type.quant->zero_point();
}

Result<Prepared> PrepareNarrow(const NodeView& view) {
  const numerics::BinaryFormula formula = FormulaOf(view);
  auto table = std::make_shared<PairTable>();
  for (int a = 0; a < 256; ++a) {
    const int32_t left = Centered(view.in(0), a);
    for (int b = 0; b < 256; ++b) {
      (*table)[a * 256 + b] = static_cast<uint8_t>(formula(left, Centered(view.in(1), b)));
    }
  }
  return Prepared{.run = [table = std::shared_ptr<const PairTable>(table),
                          plan = PlanRows(view)](const StepContext& context) -> Status {
    const uint8_t* a = context.in(0).values<uint8_t>().data();
    const uint8_t* b = context.in(1).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    const int a_step = plan.a_steps ? 1 : 0, b_step = plan.b_steps ? 1 : 0;
    plan.For(*context.pool, [&](int64_t from_a, int64_t from_b, int64_t to, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        y[to + i] = (*table)[a[from_a + i * a_step] * 256 + b[from_b + i * b_step]];
      }
    });
    return {};
  }};
}

Result<Prepared> PrepareWide(const NodeView& view) {
  return Prepared{
      .run = [formula = FormulaOf(view), plan = PlanRows(view),
              a_zero = view.in(0).quant->zero_point(),
              b_zero = view.in(1).quant->zero_point()](const StepContext& context) -> Status {
        const ir::Tensor& a = context.in(0);
        const ir::Tensor& b = context.in(1);
        const int a_step = plan.a_steps ? 1 : 0, b_step = plan.b_steps ? 1 : 0;
        plan.For(*context.pool, [&](int64_t from_a, int64_t from_b, int64_t to, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const auto left = static_cast<int32_t>(a.IntAt(from_a + i * a_step)) - a_zero;
            const auto right = static_cast<int32_t>(b.IntAt(from_b + i * b_step)) - b_zero;
            StoreInteger(context.out(), to + i, formula(left, right));
          }
        });
        return {};
      }};
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  return ir::SizeOf(view.out().dtype) == 1 ? PrepareNarrow(view) : PrepareWide(view);
}

}  // namespace

extern constexpr Kernel kModeBinary{.name = "mode-binary",
                                    .ops = kOps,
                                    .layout = LayoutRule::kEither,
                                    .modes = Modes::kWithFormulas,
                                    .match = &Match,
                                    .prepare = &Prepare};

}  // namespace octavo::runtime
