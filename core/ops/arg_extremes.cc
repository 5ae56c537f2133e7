// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin(data) {axis, keepdims, select_last_index}: the index of the greatest or least
// element along an axis; NaN counts as extreme.  A Rescale of the operand may make elements equal,
// so only an injective Rescale can be removed.
#include "core/ops/shared/order.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt},
                                        {"keepdims", ir::AttrKind::kInt},
                                        {"select_last_index", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", 0),
                                         static_cast<int>(shape.size())));
  if (shape[axis] == 0) return context.Invalid("axis {} has no element", axis);
  if (context.node().attributes.Int("keepdims", 1) != 0) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  context.SetResult(0, ir::DType::kI64, std::move(shape));
  return {};
}

template <class T, class F>
void FindExtreme(const ir::EvalContext& context, F&& further) {
  const ir::Tensor& x = context.in(0);
  const int axis = FrontAxis(context.node.attributes.Int("axis", 0), x.rank());
  const bool last = context.node.attributes.Int("select_last_index", 0) != 0;
  const int64_t extent = x.shape()[axis], inner = ir::StridesOf(x.shape())[axis];
  const auto values = x.values<T>();
  const auto to = context.out().mutable_values<int64_t>();
  for (size_t r = 0; r < to.size(); ++r) {
    const auto at = static_cast<int64_t>(r);
    const T* row = values.data() + at / inner * inner * extent + at % inner;
    int64_t best = 0;
    for (int64_t i = 1; i < extent; ++i) {
      const T candidate = row[i * inner], held = row[best * inner];
      if (Beats(candidate, held, further) || (last && !Beats(held, candidate, further))) best = i;
    }
    to[r] = best;
  }
}

// Builds a row from a generic lambda: further(a, b) is whether a is more extreme than b.
template <class Further>
constexpr OpDef ArgExtreme(std::string_view name, Further) {
  return {.name = name,
          .since = Since(1),
          .attributes = kAttributes,
          .quant = kNotReal,
          .infer = &Infer,
          .definition = [](const ir::EvalContext& context) -> Status {
            VisitDType(context.in(0).dtype(),
                       [&]<class T>(T) { FindExtreme<T>(context, Further()); });
            return {};
          },
          .depends_on_order = true};
}

}  // namespace

extern constexpr OpDef kArgMax = ArgExtreme("ArgMax", [](auto a, auto b) { return a > b; });
extern constexpr OpDef kArgMin = ArgExtreme("ArgMin", [](auto a, auto b) { return a < b; });

}  // namespace octavo::ops
