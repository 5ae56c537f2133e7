// SPDX-License-Identifier: Apache-2.0
// The verifier's own roundings, written from the definitions of the numerics modes
// (docs/operators.md) and not from core/numerics, which the passes use.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/ir/blocks.h"
#include "core/ir/tensor.h"

namespace octavo::verify {

enum class Mode { kOnnx, kTflite, kTfliteSingle, kGlowInterpreter, kGlowCpu, kPow2 };
std::optional<Mode> ParseMode(std::string_view name);

// Per-tensor parameters, and the storage range.
struct Grid {
  float scale = 1;
  int32_t zero_point = 0;
  int64_t least = 0, most = 0;

  static Grid Of(const ir::Type& type, int64_t channel = 0);
};

// The stored value of a real number.  NaN gives the zero point.
int64_t QuantizeReal(Mode mode, float x, const Grid& to);
inline float RealOf(int64_t stored, const Grid& from) {
  return static_cast<float>(stored - from.zero_point) * from.scale;
}
// Rescale of a stored value; nullopt where the mode does not define it.
std::optional<int64_t> RescaleStored(Mode mode, int64_t stored, const Grid& from, const Grid& to);

// The rounded constant, and the real values of one.  nullopt for a type that is neither
// f32 nor quantized to at most 32 bits.
std::optional<ir::Tensor> QuantizeConstant(Mode mode, const ir::Tensor& values, const ir::Type& to);
std::optional<std::vector<double>> RealValuesOf(const ir::Tensor& tensor, const ir::Type& type);

}  // namespace octavo::verify
