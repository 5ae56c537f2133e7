// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/fixed_curve.h"

#include <limits>

#include "core/numerics/fixed_point.h"

namespace octavo::numerics {
namespace {

constexpr int32_t kOne = std::numeric_limits<int32_t>::max();  // 1 with no integer bits
constexpr int32_t kOneOfTwoBits = 1 << 29;                     // 1 with two integer bits

int32_t Multiply(int32_t a, int32_t b) { return DoublingHighMultiply(a, b); }
int32_t ShiftLeft(int32_t x, int bits) { return Saturate32(int64_t{x} * (int64_t{1} << bits)); }

// exp(x) on [-1/4, 0), no integer bits: the Taylor series about -1/8, up to the fourth power.
int32_t ExpOfQuarter(int32_t x) {
  constexpr int32_t kExpOfEighth = 1895147668;  // exp(-1/8)
  constexpr int32_t kThird = 715827883;
  const int32_t t = x + (1 << 28);
  const int32_t t2 = Multiply(t, t), t3 = Multiply(t2, t), t4 = Multiply(t2, t2);
  const int32_t rest = RoundingShiftRight(Multiply(RoundingShiftRight(t4, 2) + t3, kThird) + t2, 1);
  return kExpOfEighth + Multiply(kExpOfEighth, t + rest);
}

// Newton's iteration for 2 / (1 + x); the result has two integer bits.
int32_t TwiceReciprocal(int32_t x) {
  constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540;
  const auto half_denominator = static_cast<int32_t>((int64_t{x} + kOne + 1) / 2);
  int32_t y = k48Over17 + Multiply(half_denominator, kMinus32Over17);
  for (int step = 0; step < 3; ++step) {
    const int32_t error = kOneOfTwoBits - Multiply(half_denominator, y);
    y += ShiftLeft(Multiply(y, error), 2);
  }
  return y;
}

}  // namespace

int32_t FixedExp(int32_t x, int integer_bits) {
  if (x == 0) return kOne;
  // exp(-2^e) for e = -2..4.
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  const int fraction_bits = 31 - integer_bits;
  const int32_t quarter = 1 << (fraction_bits - 2);
  const int32_t within = (x & (quarter - 1)) - quarter;  // in [-1/4, 0)
  const int32_t rest = within - x;                       // a multiple of 1/4
  int32_t result = ExpOfQuarter(ShiftLeft(within, integer_bits));
  for (int exponent = -2; exponent < integer_bits && exponent <= 4; ++exponent) {
    if ((rest >> (fraction_bits + exponent) & 1) != 0) {
      result = Multiply(result, kFactors[exponent + 2]);
    }
  }
  if (integer_bits > 5 && x < -(1 << (fraction_bits + 5))) return 0;
  return result;
}

int32_t FixedReciprocalOfOnePlus(int32_t x) { return ShiftLeft(TwiceReciprocal(x), 1); }

int32_t FixedLogistic(int32_t x, int integer_bits) {
  if (x == 0) return 1 << 30;
  const int32_t positive = FixedReciprocalOfOnePlus(FixedExp(x > 0 ? -x : x, integer_bits));
  return x > 0 ? positive : kOne - positive;
}

int32_t FixedTanh(int32_t x, int integer_bits) {
  if (x == 0) return 0;
  // (1 - e) / (1 + e) = 2 / (1 + e) - 1 with e = exp(-2|x|); one more integer bit doubles x.
  const int32_t e = FixedExp(x > 0 ? -x : x, integer_bits + 1);
  const int32_t positive = ShiftLeft(TwiceReciprocal(e) - kOneOfTwoBits, 2);
  return x > 0 ? positive : -positive;
}

}  // namespace octavo::numerics
