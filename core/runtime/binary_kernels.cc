// Add, Sub, Mul, Div, Max and Min of two 8-bit operands by rows, with broadcasting, in either
// layout.
#include <algorithm>

#include "core/runtime/kernel.h"
#include "core/runtime/row_codes.h"

namespace octavo::runtime {
namespace {

using rows::BinaryCall;
using rows::BinaryFunction;

struct Op {
  std::string_view name;
  BinaryFunction rows::Rows::*function;
};
constexpr Op kBinary[] = {{"Add", &rows::Rows::add},      {"Sub", &rows::Rows::subtract},
                          {"Mul", &rows::Rows::multiply}, {"Div", &rows::Rows::divide},
                          {"Max", &rows::Rows::greatest}, {"Min", &rows::Rows::least}};
constexpr std::string_view kArithmeticOps[] = {"Add", "Sub", "Mul", "Div"};
constexpr std::string_view kExtremeOps[] = {"Max", "Min"};

// How many elements an operand goes on by along each axis of the result, in the order of memory.
ir::Shape StepsOf(Layout layout, const ir::Shape& operand, const ir::Shape& result) {
  const bool last = CanonicalLayout(layout, operand) == Layout::kChannelsLast;
  ir::Shape steps(result.size(), 0);
  const size_t lead = result.size() - operand.size();
  const ir::Shape stored = StoredShape(last ? layout : Layout::kPlain, operand);
  const ir::Shape strides = ir::StridesOf(stored);
  for (size_t i = 0; i < operand.size(); ++i) {
    const int at = StoredAxis(last ? layout : Layout::kPlain, operand, static_cast<int>(i));
    const int to = StoredAxis(layout, result, static_cast<int>(lead + i));
    steps[to] = operand[i] == 1 ? 0 : strides[at];
  }
  return steps;
}

// A result cut into rows of `count` elements, over which both operands stand or step by 1.
struct RowPlan {
  int64_t count = 1;
  bool a_steps = false, b_steps = false;
  std::vector<int64_t> a_offsets = {0}, b_offsets = {0};
};

// Joins innermost axes as long as both operands go on evenly.
size_t JoinInner(const ir::Shape& extents, const ir::Shape& a, const ir::Shape& b, RowPlan& plan) {
  size_t axis = extents.size();
  int64_t a_step = -1, b_step = -1;
  while (axis > 0) {
    const int64_t extent = extents[axis - 1];
    if (extent != 1) {
      if (a_step < 0) {
        a_step = a[axis - 1];
        b_step = b[axis - 1];
      } else if (a[axis - 1] != a_step * plan.count || b[axis - 1] != b_step * plan.count) {
        break;
      }
      plan.count *= extent;
    }
    --axis;
  }
  plan.a_steps = a_step > 0;
  plan.b_steps = b_step > 0;
  return axis;
}

RowPlan PlanRows(Layout layout, const ir::Shape& a, const ir::Shape& b, const ir::Shape& result) {
  RowPlan plan;
  const ir::Shape extents = StoredShape(layout, result);
  const ir::Shape a_steps = StepsOf(layout, a, result), b_steps = StepsOf(layout, b, result);
  const size_t outer = JoinInner(extents, a_steps, b_steps, plan);
  for (size_t axis = 0; axis < outer; ++axis) {
    const auto spread = [&](std::vector<int64_t>& offsets, int64_t step) {
      std::vector<int64_t> more;
      more.reserve(offsets.size() * extents[axis]);
      for (const int64_t offset : offsets) {
        for (int64_t i = 0; i < extents[axis]; ++i) more.push_back(offset + i * step);
      }
      offsets = std::move(more);
    };
    spread(plan.a_offsets, a_steps[axis]);
    spread(plan.b_offsets, b_steps[axis]);
  }
  return plan;
}

// Operands of lower rank must lie alike in both layouts.
bool Fits(const ir::Type& operand, const ir::Type& result) {
  return IsPlain8(operand) &&
         (operand.shape.size() == result.shape.size() ||
          CanonicalLayout(Layout::kChannelsLast, operand.shape) == Layout::kPlain);
}

bool MatchArithmetic(const NodeView& view) {
  return IsPlain8(view.out()) && Fits(view.in(0), view.out()) && Fits(view.in(1), view.out()) &&
         view.out().elements() > 0;
}

bool MatchExtreme(const NodeView& view) {
  return view.node.inputs.size() == 2 && MatchArithmetic(view) &&
         SameCodes(view.in(0), view.out()) && SameCodes(view.in(1), view.out());
}

void RunRows(const RowPlan& plan, const BinaryCall& base, BinaryFunction function,
             const StepContext& context) {
  const auto call = [&](int64_t row, int64_t begin, int64_t end) {
    BinaryCall part = base;
    part.a += plan.a_offsets[row] + (plan.a_steps ? begin : 0);
    part.b += plan.b_offsets[row] + (plan.b_steps ? begin : 0);
    part.y += row * plan.count + begin;
    part.count = end - begin;
    function(part);
  };
  const auto rows = static_cast<int64_t>(plan.a_offsets.size());
  if (rows == 1) {
    context.pool->For(plan.count, kRowGrain,
                      [&](int64_t begin, int64_t end) { call(0, begin, end); });
    return;
  }
  context.pool->For(rows, std::max<int64_t>(1, kRowGrain / plan.count),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t row = begin; row < end; ++row) call(row, 0, plan.count);
                    });
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  const RowPlan plan = PlanRows(view.layout, view.in(0).shape, view.in(1).shape, view.out().shape);
  const auto op = std::ranges::find(kBinary, view.node.op->name, &Op::name);
  BinaryCall base{.a_steps = plan.a_steps,
                  .b_steps = plan.b_steps,
                  .a_codes = RowCodes(view.in(0)),
                  .b_codes = RowCodes(view.in(1)),
                  .y_codes = RowCodes(view.out())};
  return Prepared{.run = [plan, base, function = rows::CurrentRows().*(op->function)](
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

extern constexpr Kernel kRowsBinary{.name = "rows-arithmetic",
                                    .ops = kArithmeticOps,
                                    .layout = LayoutRule::kEither,
                                    .match = &MatchArithmetic,
                                    .prepare = &Prepare,
                                    .isa = &CurrentIsaName};

extern constexpr Kernel kRowsExtreme{.name = "rows-extreme",
                                     .ops = kExtremeOps,
                                     .layout = LayoutRule::kEither,
                                     .numerics = ir::kEveryNumerics,
                                     .match = &MatchExtreme,
                                     .prepare = &Prepare,
                                     .isa = &CurrentIsaName};

}  // namespace octavo::runtime
