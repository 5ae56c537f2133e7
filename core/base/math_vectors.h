// The loops behind math_each.h, one table of functions per instruction set.
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

#if defined(__x86_64__)
extern const EachTable kAvx2Each;
extern const EachTable kAvx512Each;
#endif

}  // namespace octavo::math::internal
