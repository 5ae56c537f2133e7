// SPDX-License-Identifier: Apache-2.0
// Arithmetic that Glow's two backends share.
#pragma once

#include "core/numerics/mode.h"

namespace octavo::numerics {

// rne(x / s + z), the sum in float32.
double GlowQuantize(float x, ChannelQuant to);

// The inputs of Glow's function tables: the lowest real value, then one step more each, summed in
// float32.
void GlowTableInputs(ChannelQuant quant, int32_t first, std::span<float> values);

}  // namespace octavo::numerics
