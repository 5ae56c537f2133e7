// SPDX-License-Identifier: Apache-2.0
// The plain loops that define a convolution.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/float_exec/kernels/conv.h"

namespace octavo::float_exec::test {

inline std::vector<float> Random(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = draw(random);
  return values;
}

// x[image, channel]; the position may lie in the padding.
struct Plane {
  const float* data;
  int64_t height, width;
  float At(int64_t row, int64_t column) const {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? data[row * width + column] : 0.0f;
  }
};

inline std::vector<float> NaiveConv(const ConvShape& s, const std::vector<float>& x,
                                    const std::vector<float>& w, const float* bias) {
  const int64_t oh = ConvOutHeight(s), ow = ConvOutWidth(s), ins = s.in_channels / s.groups;
  std::vector<float> y;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t o = 0; o < s.out_channels; ++o) {
      const int64_t first = o / (s.out_channels / s.groups) * ins;
      for (int64_t i = 0; i < oh * ow; ++i) {
        float acc = 0;
        const float* weight = w.data() + o * ins * s.kernel_height * s.kernel_width;
        for (int64_t c = 0; c < ins; ++c) {
          const Plane plane{x.data() + (n * s.in_channels + first + c) * s.in_height * s.in_width,
                            s.in_height, s.in_width};
          for (int64_t a = 0; a < s.kernel_height; ++a) {
            for (int64_t b = 0; b < s.kernel_width; ++b) {
              const int64_t row = i / ow * s.stride_height - s.pad_top + a * s.dilation_height;
              const int64_t column = i % ow * s.stride_width - s.pad_left + b * s.dilation_width;
              acc = std::fma(*weight++, plane.At(row, column), acc);
            }
          }
        }
        y.push_back(bias == nullptr ? acc : acc + bias[o]);
      }
    }
  }
  return y;
}

}  // namespace octavo::float_exec::test
