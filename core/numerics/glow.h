// SPDX-License-Identifier: Apache-2.0
// Common to Glow's two backends.
#pragma once

#include "core/numerics/mode.h"

namespace octavo::numerics {

// rne(x / s + z); the sum is in float32.
double GlowQuantize(float x, ChannelQuant to);

// The inputs of Glow's function tables: starts at the least real value and adds one step each time,
// accumulating in float32.
void GlowTableInputs(ChannelQuant quant, int32_t first, std::span<float> values);

}  // namespace octavo::numerics
