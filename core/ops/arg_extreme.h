// What ArgMax and ArgMin share: the index of an extreme along an axis; a NaN counts as extreme.
#pragma once

#include <cmath>

#include "core/ops/data_op.h"

namespace octavo::ops {

inline constexpr ir::AttrSpec kArgAttributes[] = {{"axis", ir::AttrKind::kInt},
                                                  {"keepdims", ir::AttrKind::kInt},
                                                  {"select_last_index", ir::AttrKind::kInt}};

Status InferArg(ir::InferContext& context);

// Whether a is a NaN or further than b.
template <class T, class F>
bool Beats(T a, T b, F&& further) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return further(a, b);
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

template <class F>
Status ArgReference(const ir::EvalContext& context, F&& further) {
  VisitDType(context.in(0).dtype(), [&]<class T>(T) { FindExtreme<T>(context, further); });
  return {};
}

}  // namespace octavo::ops
