// Definitions that compute in the reals' own type: f64 where the operand is, else f32.
#pragma once

#include <utility>

#include "core/ir/type.h"

namespace octavo::ops {

// f(T{}) for the C++ type of reals of that type.
template <class F>
decltype(auto) WithReal(ir::DType dtype, F&& f) {
  return dtype == ir::DType::kF64 ? std::forward<F>(f)(double{}) : std::forward<F>(f)(float{});
}

}  // namespace octavo::ops
