// SPDX-License-Identifier: Apache-2.0
// The loops of math_each.h: one table of functions per instruction set.
#pragma once

#include <cstdint>

namespace octavo::math::internal {

// Replaces values[0 .. count) in place.
using EachFunction = void (*)(double* values, int64_t count);

struct EachTable {
  EachFunction exp = nullptr;
  EachFunction expm1 = nullptr;
  EachFunction tanh = nullptr;
  EachFunction sigmoid = nullptr;
  EachFunction erf = nullptr;
};

namespace portable {
extern const EachTable kEach;
}
namespace avx2 {
extern const EachTable kEach;
}
namespace avx512 {
extern const EachTable kEach;
}

}  // namespace octavo::math::internal
