// SPDX-License-Identifier: Apache-2.0
// Functions in fixed point, as gemmlowp (and so TFLite's integer reference operators) computes
// them. A number with `integer_bits` represents raw / 2^(31 - integer_bits); results have no
// integer bits: raw / 2^31.
#pragma once

#include <cstdint>

namespace octavo::numerics {

// exp(x) for x <= 0.
int32_t FixedExp(int32_t x, int integer_bits);
// 1 / (1 + x) for x in [0, 1]; x has no integer bits.
int32_t FixedReciprocalOfOnePlus(int32_t x);
// 1 / (1 + exp(-x)), and tanh(x).
int32_t FixedLogistic(int32_t x, int integer_bits);
int32_t FixedTanh(int32_t x, int integer_bits);

}  // namespace octavo::numerics
