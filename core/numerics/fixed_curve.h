// SPDX-License-Identifier: Apache-2.0
// Curves in fixed point, as gemmlowp (and so TFLite's integer reference operators) computes them.
// A number of `integer_bits` is raw / 2^(31 - integer_bits); results have none: raw / 2^31.
#pragma once

#include <cstdint>

namespace octavo::numerics {

// exp(x) for x <= 0.
int32_t FixedExp(int32_t x, int integer_bits);
// 1 / (1 + x) for x in [0, 1] without integer bits.
int32_t FixedReciprocalOfOnePlus(int32_t x);
// 1 / (1 + exp(-x)) and tanh(x).
int32_t FixedLogistic(int32_t x, int integer_bits);
int32_t FixedTanh(int32_t x, int integer_bits);

}  // namespace octavo::numerics
