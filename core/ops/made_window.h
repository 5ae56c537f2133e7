// What ops that make a window for spectra share.
#pragma once

#include <numbers>

#include "core/ops/data_op.h"

namespace octavo::ops {

inline constexpr ir::AttrSpec kMadeWindowAttributes[] = {{"output_datatype", ir::AttrKind::kInt},
                                                         {"periodic", ir::AttrKind::kInt}};

inline Status InferMadeWindow(ir::InferContext& context) {
  OCTAVO_TRY(const std::vector<int64_t> size, context.KnownInts(0, "size"));
  if (size.size() != 1 || size[0] < 0) return context.Invalid("size must be one number");
  const auto dtype = DTypeOfNumber(context.node().attributes.Int("output_datatype", 1));
  if (!dtype) return context.Unsupported("its output_datatype is not supported");
  context.SetResult(0, *dtype, {size[0]});
  return {};
}

// Element i is at(2 pi i / n).
template <class F>
Status MakeWindow(const ir::EvalContext& context, F&& at) {
  const bool periodic = context.node.attributes.Int("periodic", 1) != 0;
  const int64_t size = context.out().size();
  const double n = static_cast<double>(std::max<int64_t>(1, periodic ? size : size - 1));
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    const auto to = context.out().mutable_values<T>();
    for (int64_t i = 0; i < size; ++i) {
      to[i] = static_cast<T>(at(2 * std::numbers::pi * static_cast<double>(i) / n));
    }
  });
  return {};
}

}  // namespace octavo::ops
