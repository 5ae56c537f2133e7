// SPDX-License-Identifier: Apache-2.0
#include "core/base/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/math_series.h"

// Only IEEE-exact functions of <cmath> are used here: fabs, sqrt, floor, rint, fmod, copysign,
// ldexp, frexp and the classifications.
namespace octavo::math {

using namespace internal;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 0x1.921fb54442d18p+1;

// (exp(r) - 1) / r = 1 + r/2! + r^2/3! + ... for |r| < 0.36.
double ExpSeries(double r) {
  double sum = kInverseFactorial.at[kExpTerms];
  for (int n = kExpTerms - 1; n >= 1; --n) sum = sum * r + kInverseFactorial.at[n];
  return sum;
}

// 2^k for k in the normal range.
double PowerOfTwo(int k) { return std::bit_cast<double>(static_cast<uint64_t>(k + 1023) << 52); }

// log(x) = exponent * ln 2 + fraction for normal or subnormal x > 0, |fraction| < 0.35.
struct LogParts {
  double exponent = 0;
  double fraction = 0;
};

LogParts SplitLog(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0x1.6a09e667f3bcdp-1) {  // sqrt(1/2)
    mantissa *= 2;
    --exponent;
  }
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  return {static_cast<double>(exponent), 2 * (s + s * sum)};
}

// x = quadrant * pi/2 + rest; |rest| is at most slightly above pi/4.
struct Reduced {
  int quadrant = 0;
  double rest = 0;
};

Reduced ReduceByHalfPi(double x) {
  // pi/2 in three parts of 33 bits and one of 53: k * part is exact for |k| < 2^20.
  constexpr double kPart1 = 0x1.921fb544p+0, kPart2 = 0x1.0b4611a6p-34, kPart3 = 0x1.3198a2ep-69,
                   kPart4 = 0x1.b839a252049c1p-104;
  if (std::fabs(x) > 1e6) x = std::fmod(x, 2 * kPi);
  const double k = std::rint(x * (2 / kPi));
  double rest = x - k * kPart1;
  rest = ((rest - k * kPart2) - k * kPart3) - k * kPart4;
  return {static_cast<int>(static_cast<int64_t>(k) & 3), rest};
}

double SinSeries(double r) {
  const double square = r * r;
  double sum = 1;
  for (int n = 18; n >= 2; n -= 2) sum = 1 - sum * square / (n * (n + 1));
  return r * sum;
}

double CosSeries(double r) {
  const double square = r * r;
  double sum = 1;
  for (int n = 17; n >= 1; n -= 2) sum = 1 - sum * square / (n * (n + 1));
  return sum;
}

double SinOfQuadrant(int quadrant, double rest) {
  const double value = (quadrant & 1) != 0 ? CosSeries(rest) : SinSeries(rest);
  return (quadrant & 2) != 0 ? -value : value;
}

// x^n for n >= 0.
double IntegerPower(double x, int n) {
  double result = 1;
  for (double square = x; n > 0; n >>= 1, square *= square) {
    if ((n & 1) != 0) result *= square;
  }
  return result;
}

bool IsInteger(double y) { return std::floor(y) == y; }
bool IsOddInteger(double y) {
  return std::fabs(y) < 0x1p53 && IsInteger(y) && std::fmod(y, 2) != 0;
}

}  // namespace

double Exp(double x) {
  if (std::isnan(x)) return x;
  if (x > kExpMax) return kInfinity;
  if (x < kExpMin) return 0;
  const double k = std::rint(x * kInverseLn2);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  const double value = 1 + r * ExpSeries(r);
  // Two factors, because neither 2^1024 nor 2^-1075 is a normal number.
  const int exponent = static_cast<int>(k);
  const int half = exponent / 2;
  return value * PowerOfTwo(half) * PowerOfTwo(exponent - half);
}

double Expm1(double x) {
  if (std::fabs(x) < kExpm1Series) return x * ExpSeries(x);
  return Exp(x) - 1;
}

double Log(double x) {
  if (std::isnan(x) || x == kInfinity) return x;
  if (x == 0) return -kInfinity;
  if (x < 0) return kNan;
  const LogParts parts = SplitLog(x);
  return parts.exponent * kLn2High + (parts.exponent * kLn2Low + parts.fraction);
}

double Log1p(double x) {
  const double u = 1 + x;
  // The factor x / (u - 1) corrects the rounding error of u = 1 + x.
  if (u == 1) return x;
  if (!(u > 0) || u == kInfinity) return Log(u);
  return Log(u) * (x / (u - 1));
}

double Tanh(double x) {
  if (std::isnan(x) || x == 0) return x;
  const double magnitude = std::fabs(x);
  if (magnitude > kTanhMax) return std::copysign(1.0, x);
  const double e = Expm1(2 * magnitude);
  return std::copysign(e / (e + 2), x);
}

double Sinh(double x) {
  if (std::isnan(x) || x == 0) return x;
  const double magnitude = std::fabs(x);
  if (magnitude > 700) {
    const double half = Exp(magnitude / 2);
    return std::copysign(half / 2 * half, x);
  }
  const double e = Expm1(magnitude);
  return std::copysign((e + e / (e + 1)) / 2, x);
}

double Cosh(double x) {
  const double half = Exp(std::fabs(x) / 2);
  if (std::fabs(x) > 700) return half / 2 * half;
  const double e = Exp(std::fabs(x));
  return (e + 1 / e) / 2;
}

double Sigmoid(double x) {
  const double e = Exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

double Erf(double x) {
  if (std::isnan(x) || x == 0) return x;
  const double magnitude = std::fabs(x);
  if (magnitude > kErfMax) return std::copysign(1.0, x);
  const double square = magnitude * magnitude;
  if (magnitude < kErfSeries) {
    // erf(x) = 2/sqrt(pi) * exp(-x^2) * sum 2^n x^(2n+1) / (1*3*...*(2n+1)): all terms are
    // positive.
    const int terms = magnitude < kErfSmall    ? kErfTermsSmall
                      : magnitude < kErfMiddle ? kErfTermsMiddle
                                               : kErfTerms;
    double sum = 1;
    for (int n = terms; n >= 1; --n) sum = 1 + sum * (2 * square) * kInverseOdd.at[n];
    return 2 * kInverseSqrtPi * x * sum * Exp(-square);
  }
  // erfc(x) = exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...)))).
  double fraction = magnitude;
  for (int n = kErfFractions; n >= 1; --n) fraction = magnitude + 0.5 * n / fraction;
  return std::copysign(1 - Exp(-square) * kInverseSqrtPi / fraction, x);
}

double Sin(double x) {
  if (!std::isfinite(x)) return kNan;
  if (x == 0) return x;
  const Reduced reduced = ReduceByHalfPi(x);
  return SinOfQuadrant(reduced.quadrant, reduced.rest);
}

double Cos(double x) {
  if (!std::isfinite(x)) return kNan;
  const Reduced reduced = ReduceByHalfPi(x);
  return SinOfQuadrant(reduced.quadrant + 1, reduced.rest);
}

double Tan(double x) {
  if (!std::isfinite(x)) return kNan;
  if (x == 0) return x;
  const Reduced reduced = ReduceByHalfPi(x);
  return SinOfQuadrant(reduced.quadrant, reduced.rest) /
         SinOfQuadrant(reduced.quadrant + 1, reduced.rest);
}

double Atan(double x) {
  if (std::isnan(x) || x == 0) return x;
  const double magnitude = std::fabs(x);
  // atan(x) = pi/2 - atan(1/x); then atan(v) = 2 atan(v / (1 + sqrt(1 + v^2))), twice.
  const bool inverted = magnitude > 1;
  double v = inverted ? 1 / magnitude : magnitude;
  v = v / (1 + std::sqrt(1 + v * v));
  v = v / (1 + std::sqrt(1 + v * v));
  const double square = v * v;
  double sum = 0;
  for (int n = 25; n >= 3; n -= 2) sum = (1.0 / n - sum) * square;
  const double angle = 4 * (v - v * sum);
  return std::copysign(inverted ? kPi / 2 - angle : angle, x);
}

double Pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(y)) return kNan;
  const double magnitude = std::fabs(x);
  if (std::isinf(y)) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? kInfinity : 0;
  }
  const bool negative = std::signbit(x) && IsOddInteger(y);
  if (magnitude == 0 || magnitude == kInfinity) {
    const double limit = (magnitude == 0) == (y > 0) ? 0 : kInfinity;
    return negative ? -limit : limit;
  }
  if (x < 0 && !IsInteger(y)) return kNan;
  if (IsInteger(y) && std::fabs(y) <= 64) {
    const double power = IntegerPower(x, static_cast<int>(std::fabs(y)));
    return y < 0 ? 1 / power : power;
  }
  if (y == 0.5) return std::sqrt(x);
  const double value = Exp(y * Log(magnitude));
  return negative ? -value : value;
}

}  // namespace octavo::math
