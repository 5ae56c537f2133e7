// SPDX-License-Identifier: Apache-2.0
// Definitions that compute in the operand's float type: f64, else f32.
#pragma once

#include <utility>

#include "core/ir/type.h"

namespace octavo::ops {

// Calls f(T{}) with that C++ type.
template <class F>
decltype(auto) WithReal(ir::DType dtype, F&& f) {
  return dtype == ir::DType::kF64 ? std::forward<F>(f)(double{}) : std::forward<F>(f)(float{});
}

}  // namespace octavo::ops
