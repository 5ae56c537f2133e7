// SPDX-License-Identifier: Apache-2.0
// The numerics modes.
#pragma once

#include "core/numerics/mode.h"

namespace octavo::numerics {

// One line per mode; the row itself is in the mode's file.
#define OCTAVO_MODES(X) \
  X(Onnx)               \
  X(Tflite)             \
  X(TfliteSingle)       \
  X(GlowInterpreter)    \
  X(GlowCpu)            \
  X(Pow2)

#define OCTAVO_DECLARE(name) extern const Mode k##name;
OCTAVO_MODES(OCTAVO_DECLARE)
#undef OCTAVO_DECLARE

// Every mode, kOnnx first.
std::span<const Mode* const> AllModes();
// Null for an unknown name.
const Mode* FindMode(std::string_view name);

}  // namespace octavo::numerics
