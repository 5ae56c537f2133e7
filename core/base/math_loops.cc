// SPDX-License-Identifier: Apache-2.0
// The loops of math_loops.h.  octavo_vector_loops compiles this file once per instruction set; the
// vectorized variants must not call functions that other files define, because the linker could
// then pick a copy compiled for another instruction set.
//
// Written for a vector type V: Reg, Mask, kLanes and the operations below.  Each lane performs the
// same operations in the same order as the function in math.cc; where that function branches, the
// loop computes both branches and selects one.  It interleaves several independent vectors, because
// each vector alone is one long dependency chain.
#include "core/base/math_loops.h"

#if defined(__AVX512F__)
#include "core/base/math_vector_avx512.h"
#elif defined(__AVX2__)
#include "core/base/math_vector_avx2.h"
#else
#include "core/base/math.h"
#endif
#include "core/base/math_series.h"

#if defined(__clang__)
#define OCTAVO_UNROLL _Pragma("unroll")
#else
#define OCTAVO_UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__AVX2__)
namespace octavo::math::internal {
namespace {

inline constexpr int kSide = 4;  // interleaved vectors

template <class V>
struct Pack {
  typename V::Reg at[kSide];
};

template <class V, class F>
inline void ForEachOf(Pack<V>& pack, F&& f) {
  OCTAVO_UNROLL for (int i = 0; i < kSide; ++i) pack.at[i] = f(pack.at[i], i);
}

// (exp(r) - 1) / r
template <class V>
inline Pack<V> ExpSeries(const Pack<V>& r) {
  Pack<V> sum;
  const auto last = V::Set(kInverseFactorial.at[kExpTerms]);
  ForEachOf<V>(sum, [&](auto, int) { return last; });
  for (int n = kExpTerms - 1; n >= 1; --n) {
    const auto term = V::Set(kInverseFactorial.at[n]);
    ForEachOf<V>(sum, [&](auto s, int i) { return V::Add(V::Mul(s, r.at[i]), term); });
  }
  return sum;
}

// x = k * ln 2 + rest
template <class V>
inline void ReduceByLn2(const Pack<V>& x, Pack<V>& k, Pack<V>& rest) {
  ForEachOf<V>(k, [&](auto, int i) { return V::Rint(V::Mul(x.at[i], V::Set(kInverseLn2))); });
  ForEachOf<V>(rest, [&](auto, int i) {
    const auto high = V::Sub(x.at[i], V::Mul(k.at[i], V::Set(kLn2High)));
    return V::Sub(high, V::Mul(k.at[i], V::Set(kLn2Low)));
  });
}

// value * 2^k, or the limit of exp(x) beyond the range.
template <class V>
inline typename V::Reg ExpResult(typename V::Reg x, typename V::Reg k, typename V::Reg value) {
  auto result = V::TimesPowerOfTwo(value, k);
  result = V::Select(V::Less(V::Set(kExpMax), x), V::Set(__builtin_inf()), result);
  result = V::Select(V::Less(x, V::Set(kExpMin)), V::Set(0), result);
  return V::Select(V::IsNan(x), x, result);
}

template <class V>
inline void Exp(Pack<V>& x) {
  Pack<V> k, rest;
  ReduceByLn2<V>(x, k, rest);
  const Pack<V> series = ExpSeries<V>(rest);
  ForEachOf<V>(x, [&](auto value, int i) {
    const auto power = V::Add(V::Set(1), V::Mul(rest.at[i], series.at[i]));
    return ExpResult<V>(value, k.at[i], power);
  });
}

template <class V>
inline void Expm1(Pack<V>& x) {
  Pack<V> k, rest;
  ReduceByLn2<V>(x, k, rest);
  const auto small = [](auto value) { return V::Less(V::Abs(value), V::Set(kExpm1Series)); };
  ForEachOf<V>(rest, [&](auto r, int i) { return V::Select(small(x.at[i]), x.at[i], r); });
  const Pack<V> series = ExpSeries<V>(rest);
  ForEachOf<V>(x, [&](auto value, int i) {
    const auto product = V::Mul(rest.at[i], series.at[i]);
    const auto power = ExpResult<V>(value, k.at[i], V::Add(V::Set(1), product));
    return V::Select(small(value), product, V::Sub(power, V::Set(1)));
  });
}

template <class V>
inline void Tanh(Pack<V>& x) {
  Pack<V> e;
  ForEachOf<V>(e, [&](auto, int i) { return V::Mul(V::Set(2), V::Abs(x.at[i])); });
  Expm1<V>(e);
  ForEachOf<V>(x, [&](auto value, int i) {
    auto result = V::Div(e.at[i], V::Add(e.at[i], V::Set(2)));
    result = V::Select(V::Less(V::Set(kTanhMax), V::Abs(value)), V::Set(1), result);
    return V::Select(V::IsNan(value), value, V::CopySign(result, value));
  });
}

template <class V>
inline void Sigmoid(Pack<V>& x) {
  Pack<V> e;
  ForEachOf<V>(e, [&](auto, int i) { return V::Negate(V::Abs(x.at[i])); });
  Exp<V>(e);
  ForEachOf<V>(x, [&](auto value, int i) {
    const auto above = V::Select(V::Less(value, V::Set(0)), e.at[i], V::Set(1));
    return V::Div(above, V::Add(V::Set(1), e.at[i]));
  });
}

// For kErfSeries <= |x| <= kErfMax.
template <class V>
inline void ErfByFraction(Pack<V>& x) {
  Pack<V> power, fraction;
  ForEachOf<V>(power, [&](auto, int i) { return V::Negate(V::Mul(x.at[i], x.at[i])); });
  Exp<V>(power);
  ForEachOf<V>(fraction, [&](auto, int i) { return V::Abs(x.at[i]); });
  for (int n = kErfFractions; n >= 1; --n) {
    const auto above = V::Set(0.5 * n);
    ForEachOf<V>(fraction,
                 [&](auto f, int i) { return V::Add(V::Abs(x.at[i]), V::Div(above, f)); });
  }
  ForEachOf<V>(x, [&](auto value, int i) {
    const auto rest = V::Div(V::Mul(power.at[i], V::Set(kInverseSqrtPi)), fraction.at[i]);
    return V::CopySign(V::Sub(V::Set(1), rest), value);
  });
}

// Adds series terms to the elements with |x| >= least; smaller elements need fewer terms.
template <class V>
inline void AddErfTerms(const Pack<V>& x, const Pack<V>& square, double least, int begin, int end,
                        Pack<V>& sum) {
  bool any = false;
  OCTAVO_UNROLL for (int i = 0; i < kSide; ++i) {
    any |= V::Any(V::Not(V::Less(V::Abs(x.at[i]), V::Set(least))));
  }
  if (!any) return;
  for (int n = begin; n > end; --n) {
    const auto inverse = V::Set(kInverseOdd.at[n]);
    ForEachOf<V>(sum, [&](auto s, int i) {
      const auto twice = V::Mul(V::Set(2), square.at[i]);
      const auto next = V::Add(V::Set(1), V::Mul(V::Mul(s, twice), inverse));
      return V::Select(V::Less(V::Abs(x.at[i]), V::Set(least)), s, next);
    });
  }
}

// For |x| < kErfSeries or |x| > kErfMax.
template <class V>
inline void ErfBySeries(Pack<V>& x) {
  Pack<V> square, power, sum;
  ForEachOf<V>(square, [&](auto, int i) { return V::Mul(x.at[i], x.at[i]); });
  ForEachOf<V>(power, [&](auto, int i) { return V::Negate(square.at[i]); });
  Exp<V>(power);
  ForEachOf<V>(sum, [&](auto, int) { return V::Set(1); });
  AddErfTerms<V>(x, square, kErfMiddle, kErfTerms, kErfTermsMiddle, sum);
  AddErfTerms<V>(x, square, kErfSmall, kErfTermsMiddle, kErfTermsSmall, sum);
  AddErfTerms<V>(x, square, 0, kErfTermsSmall, 0, sum);
  ForEachOf<V>(x, [&](auto value, int i) {
    auto result = V::Mul(V::Set(2 * kInverseSqrtPi), value);
    result = V::Mul(V::Mul(result, sum.at[i]), power.at[i]);
    const auto limit = V::CopySign(V::Set(1), value);
    result = V::Select(V::Less(V::Set(kErfMax), V::Abs(value)), limit, result);
    return V::Select(V::IsNan(value), value, result);
  });
}

template <class V, void (*kFunction)(Pack<V>&)>
void Each(double* values, int64_t count) {
  constexpr int kStep = kSide * V::kLanes;
  for (int64_t begin = 0; begin < count; begin += kStep) {
    double padded[kStep] = {};
    const int64_t rest = count - begin;
    double* at = values + begin;
    if (rest < kStep) {
      for (int64_t i = 0; i < rest; ++i) padded[i] = at[i];
      at = padded;
    }
    Pack<V> pack;
    OCTAVO_UNROLL for (int i = 0; i < kSide; ++i) pack.at[i] = V::Load(at + i * V::kLanes);
    kFunction(pack);
    OCTAVO_UNROLL for (int i = 0; i < kSide; ++i) V::Store(at + i * V::kLanes, pack.at[i]);
    for (int64_t i = 0; rest < kStep && i < rest; ++i) values[begin + i] = padded[i];
  }
}

// Few elements need the slow continued fraction; the loop collects them and computes them together.
template <class V>
void ErfEach(double* values, int64_t count) {
  constexpr int64_t kBlock = 512;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = count - begin < kBlock ? count - begin : kBlock;
    double* block = values + begin;
    double far[kBlock];
    int16_t places[kBlock];
    int64_t found = 0;
    for (int64_t i = 0; i < size; ++i) {
      const double magnitude = __builtin_fabs(block[i]);
      far[found] = block[i];
      places[found] = static_cast<int16_t>(i);
      if (magnitude >= kErfSeries && magnitude <= kErfMax) {
        ++found;
        block[i] = 0;  // so that the series adds no terms for it
      }
    }
    Each<V, ErfBySeries<V>>(block, size);
    Each<V, ErfByFraction<V>>(far, found);
    for (int64_t i = 0; i < found; ++i) block[places[i]] = far[i];
  }
}

}  // namespace

constinit const EachTable OCTAVO_ISA::kEach = {.exp = &Each<Vector, Exp<Vector>>,
                                               .expm1 = &Each<Vector, Expm1<Vector>>,
                                               .tanh = &Each<Vector, Tanh<Vector>>,
                                               .sigmoid = &Each<Vector, Sigmoid<Vector>>,
                                               .erf = &ErfEach<Vector>};

}  // namespace octavo::math::internal
#else
namespace octavo::math::internal {
namespace {

template <double (*kFunction)(double)>
void Each(double* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = kFunction(values[i]);
}

}  // namespace

constinit const EachTable OCTAVO_ISA::kEach = {.exp = &Each<math::Exp>,
                                               .expm1 = &Each<math::Expm1>,
                                               .tanh = &Each<math::Tanh>,
                                               .sigmoid = &Each<math::Sigmoid>,
                                               .erf = &Each<math::Erf>};

}  // namespace octavo::math::internal
#endif
