// SPDX-License-Identifier: Apache-2.0
// Scales images of 8-bit RGB as Pillow's Image.resize(.., Image.BILINEAR) does, to the same bytes.
//
// Pixel i covers [i, i + 1), so centres are at i + 0.5.  A target pixel is the weighted mean of the
// source pixels around the point that it comes from: the weights are a triangle of half width
// max(1, source / target) source pixels, so that shrinking averages all that it leaves out.  The
// weights of a target pixel are computed in double, scaled to a sum of 1 and rounded to 22 bits;
// rows are scaled first, then columns, each in integers, rounded half up to 8 bits.
#pragma once

#include <cstdint>

#include "core/base/stop_token.h"
#include "core/data/zeroed_vector.h"

namespace octavo::data {

// Rows from the top, three bytes R, G, B per pixel.
struct RgbImage {
  int64_t height = 0, width = 0;
  ZeroedVector<uint8_t> pixels = {};
};

// Both sides of the image and of the target are at least 1.
Result<RgbImage> Resize(RgbImage image, int64_t height, int64_t width, const StopToken& stop);

// Height and width such that the shorter side is `side`; the longer one is rounded down.
void ShorterSideTo(int64_t side, int64_t& height, int64_t& width);

// The middle of an image that is at least as large.  An odd rest is halved to the even number.
Result<RgbImage> CenterCrop(RgbImage image, int64_t height, int64_t width, const StopToken& stop);

}  // namespace octavo::data
