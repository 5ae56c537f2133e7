// SPDX-License-Identifier: Apache-2.0
// The factor of every class of channels: how much a channel uses of its value's range against how
// much its weights use of their rows' (Nagel et al., Data-Free Quantization, 2019, section 4.1,
// with ranges from calibration).  For a value with the range [lo, hi],
//
//   share(c) = max(hi_c / hi, lo_c / lo): the largest over the values that have the class
//   use(c) = max over outputs o of |W_oc| / max_k |W_ok|: the largest over the layers that read it
//   s(c) = sqrt(share(c) / use(c)), or share(c) where only depthwise layers read it
//
// s is held within [1/kMostFactor, kMostFactor] and rounded to a power of two, so that no float
// result changes.  The bound keeps channels that calibration hardly excited from saturating.  So do
// the values in front of a Relu, which count too although integers never hold them: without them
// ultraface_rfb320 has 40.1 dB on unseen samples instead of 47.4.
#pragma once

#include <vector>

#include "core/passes/analysis/value_ranges.h"
#include "core/passes/equalize/channel_classes.h"

namespace octavo::passes {

inline constexpr double kMostFactor = 4;

// By class; 1 where nothing is known, and where a product would leave the range of normal numbers.
std::vector<float> FactorsOf(const ir::Graph& graph, const ChannelClasses& classes,
                             const ValueRanges& ranges);

// The ranges of a free value's channels along the axis of its classes; null if the profile does not
// have them.
const profile::ChannelRanges* ChannelRangesOf(const ir::Graph& graph, const ChannelClasses& classes,
                                              const ValueRanges& ranges, ir::ValueId id);

// The nearest power of two to a positive number; the larger one from the square root of 2 on.
double NearestPowerOfTwo(double x);

// The constant after its classes' factors: weights of a layer, or a divided operand.
ir::Tensor ScaledWeights(const ir::Graph& graph, const LayerClasses& layer,
                         const std::vector<float>& factors);
ir::Tensor ScaledVector(const ir::Graph& graph, const VectorClasses& vector,
                        const std::vector<float>& factors);

}  // namespace octavo::passes
