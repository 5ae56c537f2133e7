// SPDX-License-Identifier: Apache-2.0
// Requantization of integer sums in mode `onnx`: q = clamp(rne(float(sum) * m) + z).
#pragma once

#include <cstdint>
#include <vector>

#include "core/ir/type.h"

namespace octavo::runtime {

// (s_x * s_w[c]) / s_y for `channels` output channels, from left to right in float32.
std::vector<float> Multipliers(const ir::Quant& x, const ir::Quant& w, const ir::Quant& y,
                               int64_t channels);
// s_x * s_w[c], likewise: a float result is float(sum) times that.
std::vector<float> AccumulatorScales(const ir::Quant& x, const ir::Quant& w, int64_t channels);
// s_x / (s_y * count), likewise, for the mean of `count` values.
float MeanMultiplier(const ir::Quant& x, const ir::Quant& y, int64_t count);

// clamp(rne(float(sum) * multiplier) + zero_point); the clamp is done in float before the
// conversion.
int32_t Requantize(int64_t sum, float multiplier, int32_t zero_point, ir::IntegerRange range);

}  // namespace octavo::runtime
