// SPDX-License-Identifier: Apache-2.0
// The coefficients that the scalar and the vector elementary functions share.  Only plain arrays
// and no functions, so that files compiled for one instruction set can include this header.
#pragma once

namespace octavo::math::internal {

// ln 2 = high + low, where `high` has 32 bits, so that k * high is exact for |k| < 2^20.
inline constexpr double kLn2High = 0x1.62e42feep-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
inline constexpr double kInverseSqrtPi = 0x1.20dd750429b6dp-1;

// exp(x) is infinity above kExpMax and 0 below kExpMin; (exp(x) - 1) / x uses only the series
// for |x| within kExpm1Series.
inline constexpr double kExpMax = 709.79, kExpMin = -745.2;
inline constexpr double kExpm1Series = 0.35;
// tanh(x) is 1 above this.
inline constexpr double kTanhMax = 22;

inline constexpr int kExpTerms = 14;
struct InverseFactorial {
  double at[kExpTerms + 1] = {};
};
inline constexpr InverseFactorial kInverseFactorial = [] {
  InverseFactorial table = {{1}};
  double factorial = 1;  // exact: 14! < 2^53
  for (int n = 1; n <= kExpTerms; ++n) table.at[n] = 1 / (factorial *= n);
  return table;
}();

// erf uses a series of kErfTermsSmall, kErfTermsMiddle or kErfTerms terms below kErfSmall,
// kErfMiddle and kErfSeries, and a continued fraction of kErfFractions levels up to kErfMax;
// above, it is 1.
inline constexpr double kErfSmall = 0.5, kErfMiddle = 1.25, kErfSeries = 2.5, kErfMax = 6;
inline constexpr int kErfTermsSmall = 14, kErfTermsMiddle = 26, kErfTerms = 50;
inline constexpr int kErfFractions = 60;
struct InverseOdd {
  double at[kErfTerms + 1] = {};
};
// 1 / (2n + 1)
inline constexpr InverseOdd kInverseOdd = [] {
  InverseOdd table = {};
  for (int n = 0; n <= kErfTerms; ++n) table.at[n] = 1.0 / (2 * n + 1);
  return table;
}();

}  // namespace octavo::math::internal
