// SPDX-License-Identifier: Apache-2.0
// The definition of the integer kernels in plain int64 loops, and random operands for it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "core/runtime/int8/types.h"

namespace octavo::runtime::int8::test {

inline std::vector<uint8_t> RandomBytes(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

inline int64_t ValueAt(const void* data, Storage storage, int64_t i) {
  if (storage == Storage::kS8) return static_cast<const int8_t*>(data)[i];
  return static_cast<const uint8_t*>(data)[i];
}

template <class T>
T PerChannel(std::span<const T> values, int64_t c, T otherwise) {
  return values.empty() ? otherwise : values.size() == 1 ? values[0] : values[size_t(c)];
}

// Appends the bytes of a sum after `requantization`.
inline void AppendFinished(int64_t acc, const Requantization& requantization, int64_t channel,
                           std::vector<uint8_t>& out) {
  const float x = static_cast<float>(static_cast<int32_t>(acc)) *
                  PerChannel(requantization.multipliers, channel, 1.0f);
  const auto append = [&](auto value) {
    const size_t at = out.size();
    out.resize(at + sizeof value);
    std::memcpy(out.data() + at, &value, sizeof value);
  };
  switch (requantization.output) {
    case Output::kInt32:
      return append(static_cast<int32_t>(acc));
    case Output::kFloat:
      return append(x);
    case Output::kU8:
    case Output::kS8: {
      const auto low = static_cast<float>(requantization.lowest - requantization.zero_point);
      const auto high = static_cast<float>(requantization.highest - requantization.zero_point);
      const float clamped = std::fmin(std::fmax(x, low), high);
      return append(static_cast<uint8_t>(static_cast<int>(std::nearbyint(clamped)) +
                                         requantization.zero_point));
    }
  }
}

// One row of a table of types and zero points over which tests iterate.
struct Kind {
  const char* name;
  Activation input;
  Storage weights = Storage::kS8;
  int weight_zero = 0;       // the zero point of all channels ...
  bool per_channel = false;  // ... or around it, different per channel
  Output output = Output::kU8;
  int zero_point = 0, lowest = 0, highest = 255;
};

inline const Kind kKinds[] = {
    {"u8 s8 u8", {Storage::kU8, 3}, Storage::kS8, 0, false, Output::kU8, 100, 0, 255},
    {"s8 s8 s8", {Storage::kS8, -7}, Storage::kS8, 0, false, Output::kS8, -20, -128, 127},
    {"u8 u8 relu", {Storage::kU8, 128}, Storage::kU8, 128, false, Output::kU8, 30, 30, 200},
    {"s8 u8, weight zero points by channel",
     {Storage::kS8, 127},
     Storage::kU8,
     90,
     true,
     Output::kS8,
     5,
     5,
     90},
    {"u8 s8, weight zero point",
     {Storage::kU8, 255},
     Storage::kS8,
     -5,
     false,
     Output::kU8,
     255,
     9,
     255},
    {"int32", {Storage::kU8, 77}, Storage::kS8, 0, false, Output::kInt32},
    {"float", {Storage::kS8, 1}, Storage::kS8, 2, true, Output::kFloat},
};

// The random operands of a Kind; owns the data that Weights and Requantization refer to.
struct Drawn {
  std::vector<uint8_t> weights;
  std::vector<int32_t> zero_points, bias;
  std::vector<float> multipliers;

  Drawn(const Kind& kind, int64_t channels, int64_t taps)
      : weights(RandomBytes(channels * taps, 5)) {
    std::mt19937 random(6);
    for (int64_t c = 0; c < channels; ++c) {
      bias.push_back(static_cast<int32_t>(random() % 20001) - 10000);
      multipliers.push_back(static_cast<float>(random() % 1000 + 1) * 1e-5f /
                            std::sqrt(static_cast<float>(taps)));
      if (kind.per_channel) zero_points.push_back(kind.weight_zero + static_cast<int>(c % 5) - 2);
    }
    if (!kind.per_channel && kind.weight_zero != 0) zero_points.push_back(kind.weight_zero);
  }
  Weights View(const Kind& kind) const { return {weights.data(), kind.weights, zero_points}; }
  Requantization End(const Kind& kind) const {
    return {kind.output, multipliers, kind.zero_point, kind.lowest, kind.highest};
  }
};

}  // namespace octavo::runtime::int8::test
