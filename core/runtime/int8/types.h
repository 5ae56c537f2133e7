// SPDX-License-Identifier: Apache-2.0
// Operands of the int8 kernels, and their epilogue: the conversion of int32 sums to stored results.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace octavo::runtime::int8 {

enum class Storage { kU8, kS8 };

// An activation: stored integers q represent the real value scale * (q - zero_point).
struct Activation {
  Storage storage = Storage::kU8;
  int32_t zero_point = 0;  // within the range of `storage`
};

// Constant weights, read only during the preparation of a plan.  `zero_points` is empty (all 0),
// has one element, or has one per output channel; they lie within the range of `storage`.
struct Weights {
  const void* data = nullptr;
  Storage storage = Storage::kS8;
  std::span<const int32_t> zero_points = {};
};

// The stored result for an int32 sum `acc` of output channel c:
//   kU8, kS8  clamp(rne(float(acc) * multiplier[c]) + zero_point, lowest, highest); the clamp is
//             done in float before the conversion (mode `onnx`)
//   kInt32    acc
//   kFloat    float(acc) * multiplier[c]
enum class Output { kU8, kS8, kInt32, kFloat };

struct Requantization {
  Output output = Output::kU8;
  std::span<const float> multipliers = {};  // one, or one per output channel; unused for kInt32
  int32_t zero_point = 0;                   // of the result
  int32_t lowest = 0, highest = 255;        // bounds of q; a fused Relu or Clip narrows them
};

// An activation x that is added to the 8-bit result q element by element.  In float32, from left to
// right:
//   clamp(rne(((q - requantization.zero_point) * own_scale + (x - addend.zero_point) * scale)
//             / result_scale) + zero_point)
// to the range of `output`, which is kU8 or kS8.  IsModerate must hold.
struct ResidualAdd {
  Activation addend = {};
  float own_scale = 1, scale = 1, result_scale = 1;
  Output output = Output::kU8;
  int32_t zero_point = 0;

  // Whether quotients stay within 2^30 and their remainders far from the limits of float's range.
  bool IsModerate() const {
    const auto is_moderate = [](float x) { return x > 0x1p-40f && x < 0x1p40f; };
    return is_moderate(own_scale) && is_moderate(scale) && is_moderate(result_scale) &&
           (own_scale + scale) / result_scale < 0x1p20f;
  }
};

// A function of one 8-bit value, applied to a result while the result is in the cache.
struct LookupTable {
  std::array<uint8_t, 256> table = {};  // indexed by the stored byte
  // y[i] = table[x[i]]; y may be x.
  void (*look_up)(const uint8_t* x, int64_t count, const uint8_t* table, uint8_t* y) = nullptr;

  void Apply(uint8_t* bytes, int64_t count) const { look_up(bytes, count, table.data(), bytes); }
};

// Bytes per element.
inline int64_t OutputSize(Output output) {
  return output == Output::kU8 || output == Output::kS8 ? 1 : 4;
}

// True if no partial sum of any channel can overflow int32 for any activation:
//   sum|w - zw| * max|x - zx| + |bias| < 2^31
// `weights` is dense [channels][taps]; `bias` is empty or has one element per channel.  Kernels
// require this of their caller.
bool FitsInt32(const Weights& weights, int64_t channels, int64_t taps, const Activation& input,
               std::span<const int32_t> bias);

}  // namespace octavo::runtime::int8
