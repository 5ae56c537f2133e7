// SPDX-License-Identifier: Apache-2.0
// How an image becomes a sample: the text of --image.
//
//   size=224,resize=256,crop=center,mean=0.485,0.456,0.406,std=0.229,0.224,0.225
//
// A value without "=" continues the list of the key before it.
//
// size: H x W of the sample, as in 224 or 256x192; unset: the input's.
//
// resize: with crop=center, the length of the shorter side before the crop; unset: the longer of
// size.
//
// crop: none (scale both sides to size) | center.
//
// scale: factor of a pixel, as in 1/255 (the default; 1 for an input of type uint8).
//
// mean: subtracted after the scale, one number or one for each channel.  std: the divisor after
// that.
//
// layout: NCHW | NHWC; unset: the one that fits the input, else NCHW.
//
// order: RGB | BGR | GRAY; unset: GRAY for an input with one channel, else RGB.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace octavo::data {

enum class ImageLayout { kNchw, kNhwc };
enum class ImageOrder { kRgb, kBgr, kGray };

struct ImageSpec {
  int64_t height = 0, width = 0;  // 0: the input's
  int64_t resize = 0;             // 0: the longer of the two
  bool crop = false;
  std::optional<double> scale = {};
  std::vector<double> mean = {}, std = {};  // empty: 0 and 1
  std::optional<ImageLayout> layout = {};
  std::optional<ImageOrder> order = {};

  bool operator==(const ImageSpec&) const = default;
};

// The longest side of a sample.
inline constexpr int64_t kMaxImageSide = 16384;

// kUsage names the key and what it must be.
Result<ImageSpec> ParseImageSpec(std::string_view text);

}  // namespace octavo::data
