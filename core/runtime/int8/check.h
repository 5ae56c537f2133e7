// SPDX-License-Identifier: Apache-2.0
// Checks of the operands that every plan makes before it packs them.
#pragma once

#include <string_view>

#include "core/base/status.h"
#include "core/runtime/int8/types.h"

namespace octavo::runtime::int8::internal {

// `what` names the kernel in the message.
Status CheckOperands(std::string_view what, const Activation& input, const Weights& weights,
                     std::span<const int32_t> bias, const Requantization& requantization,
                     int64_t channels);

}  // namespace octavo::runtime::int8::internal
