// The numerics modes: each fixes every rounding of integer arithmetic, in the runtime, in constant
// folding and in rewrites.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace octavo::ir {

enum class Numerics { kOnnx, kTflite, kTfliteSingle, kGlowInterpreter, kGlowCpu, kPow2 };

inline constexpr std::array<std::pair<Numerics, std::string_view>, 6> kNumericsNames = {{
    {Numerics::kOnnx, "onnx"},
    {Numerics::kTflite, "tflite"},
    {Numerics::kTfliteSingle, "tflite-single"},
    {Numerics::kGlowInterpreter, "glow-interpreter"},
    {Numerics::kGlowCpu, "glow-cpu"},
    {Numerics::kPow2, "pow2"},
}};

constexpr std::string_view Name(Numerics mode) {
  return kNumericsNames[static_cast<size_t>(mode)].second;
}
constexpr std::optional<Numerics> ParseNumerics(std::string_view name) {
  for (const auto& [mode, own] : kNumericsNames) {
    if (own == name) return mode;
  }
  return std::nullopt;
}

// A set of modes, as bits.
using NumericsSet = unsigned;
constexpr NumericsSet Only(Numerics mode) { return 1u << static_cast<unsigned>(mode); }
inline constexpr NumericsSet kEveryNumerics = (1u << kNumericsNames.size()) - 1;
inline constexpr NumericsSet kNumericsBesideOnnx = kEveryNumerics & ~Only(Numerics::kOnnx);
constexpr bool Contains(NumericsSet set, Numerics mode) { return (set & Only(mode)) != 0; }

}  // namespace octavo::ir
