// SPDX-License-Identifier: Apache-2.0
// octavo_vector_loops compiles this file once per instruction set; it must not call functions that
// other files share.
#include "core/passes/finish/descent_loops.h"

namespace octavo::passes {
namespace {

void AddScaled(double factor, const double* __restrict from, double* __restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

void AddScaled4(const double (&factors)[4], const double* __restrict from, double* const (&to)[4],
                int64_t count) {
  double* __restrict a = to[0];
  double* __restrict b = to[1];
  double* __restrict c = to[2];
  double* __restrict d = to[3];
  const double by_a = factors[0], by_b = factors[1], by_c = factors[2], by_d = factors[3];
  for (int64_t i = 0; i < count; ++i) {
    const double x = from[i];
    a[i] += by_a * x;
    b[i] += by_b * x;
    c[i] += by_c * x;
    d[i] += by_d * x;
  }
}

}  // namespace

constinit const DescentLoops OCTAVO_ISA::kDescentLoops = {.add_scaled = &AddScaled,
                                                          .add_scaled_4 = &AddScaled4};

}  // namespace octavo::passes
