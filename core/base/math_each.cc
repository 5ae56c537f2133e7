#include "core/base/math_each.h"

#include "core/base/cpu.h"
#include "core/base/math.h"
#include "core/base/math_vectors.h"

namespace octavo::math {
namespace {

template <double (*kFunction)(double)>
void Loop(double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = kFunction(values[i]);
}

constexpr internal::EachTable kPortableEach{.exp = &Loop<Exp>,
                                            .expm1 = &Loop<Expm1>,
                                            .tanh = &Loop<Tanh>,
                                            .sigmoid = &Loop<Sigmoid>,
                                            .erf = &Loop<Erf>};

const internal::EachTable& Table() {
#if defined(__x86_64__)
  const Isa isa = CurrentIsa();
  if (isa >= Isa::kAvx512) return internal::kAvx512Each;
  if (isa >= Isa::kAvx2) return internal::kAvx2Each;
#endif
  return kPortableEach;
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
