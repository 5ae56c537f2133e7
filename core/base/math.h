// SPDX-License-Identifier: Apache-2.0
// Elementary functions in double, by fixed expressions.  They call no function that dispatches on
// the processor, so their bits are the same on every machine.  The relative error is below 1e-13
// unless stated otherwise: rounded once to float32, they define the float operators.  NaN gives
// NaN; arguments beyond the range give the limit (infinity, 0, 1 or -1).
#pragma once

namespace octavo::math {

double Exp(double x);
double Expm1(double x);
// Log(0) is -infinity; negative arguments give NaN.
double Log(double x);
double Log1p(double x);

double Tanh(double x);
double Sinh(double x);
double Cosh(double x);
double Sigmoid(double x);
double Erf(double x);

// The absolute error is below 1e-15 up to |x| = 1e6; beyond, the period is 2*pi rounded to double.
double Sin(double x);
double Cos(double x);
double Tan(double x);
double Atan(double x);

// Special cases as in IEEE 754 pow.  x^2, x^3 ... x^64 and their reciprocals are products by
// repeated squaring (x^2 is exactly the rounded x*x); x^0.5 is the IEEE square root of x (with
// pow's +0 and +infinity for -0 and -infinity).  Otherwise the relative error is below
// 1e-15 + 4e-16 * |y * log(x)|.
double Pow(double x, double y);

}  // namespace octavo::math
