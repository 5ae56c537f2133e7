// SPDX-License-Identifier: Apache-2.0
#include "core/base/math_each.h"

#include "core/base/cpu.h"
#include "core/base/math_loops.h"

namespace octavo::math {
namespace {

const internal::EachTable& Table() {
  return ForIsa(internal::portable::kEach, internal::avx2::kEach, internal::avx512::kEach);
}

void Run(internal::EachFunction function, std::span<double> values) {
  function(values.data(), static_cast<int64_t>(values.size()));
}

}  // namespace

void ExpEach(std::span<double> values) { Run(Table().exp, values); }
void Expm1Each(std::span<double> values) { Run(Table().expm1, values); }
void TanhEach(std::span<double> values) { Run(Table().tanh, values); }
void SigmoidEach(std::span<double> values) { Run(Table().sigmoid, values); }
void ErfEach(std::span<double> values) { Run(Table().erf, values); }

}  // namespace octavo::math
