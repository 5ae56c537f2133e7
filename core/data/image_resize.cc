// SPDX-License-Identifier: Apache-2.0
#include "core/data/image_resize.h"

#include <algorithm>
#include <cmath>

namespace octavo::data {
namespace {

// 8 bits of a pixel and 2 for sums of rounded weights that exceed 1 leave 22 of 32.
constexpr int kWeightBits = 32 - 8 - 2;
constexpr int64_t kChannels = 3;

// The source pixels of one target pixel and their weights.
struct Taps {
  int64_t first = 0;
  std::vector<int32_t> weights = {};
};

std::vector<Taps> TapsOf(int64_t source, int64_t target) {
  const double scale = static_cast<double>(source) / static_cast<double>(target);
  const double half_width = std::max(scale, 1.0);
  const double per_pixel = 1.0 / half_width;
  std::vector<Taps> taps(static_cast<size_t>(target));
  std::vector<double> shares;
  for (int64_t i = 0; i < target; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(static_cast<int64_t>(center - half_width + 0.5), 0);
    const auto end = std::min<int64_t>(static_cast<int64_t>(center + half_width + 0.5), source);
    shares.clear();
    double sum = 0;
    for (int64_t x = first; x < end; ++x) {
      const double distance = std::abs((static_cast<double>(x) - center + 0.5) * per_pixel);
      shares.push_back(distance < 1.0 ? 1.0 - distance : 0.0);
      sum += shares.back();
    }
    Taps& tap = taps[static_cast<size_t>(i)];
    tap.first = first;
    for (const double weight : shares) {
      const double share = sum != 0.0 ? weight / sum : weight;
      tap.weights.push_back(static_cast<int32_t>(0.5 + share * (1 << kWeightBits)));
    }
  }
  return taps;
}

uint8_t Rounded(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

void ScaleRow(const uint8_t* from, const std::vector<Taps>& taps, uint8_t* to) {
  for (const Taps& tap : taps) {
    int32_t sums[kChannels] = {kHalf, kHalf, kHalf};
    const uint8_t* pixel = from + tap.first * kChannels;
    for (const int32_t weight : tap.weights) {
      for (int64_t c = 0; c < kChannels; ++c) sums[c] += *pixel++ * weight;
    }
    for (const int32_t sum : sums) *to++ = Rounded(sum);
  }
}

void ScaleColumns(const RgbImage& from, const Taps& tap, std::vector<int32_t>& sums, uint8_t* to) {
  const int64_t bytes = from.width * kChannels;
  sums.assign(static_cast<size_t>(bytes), kHalf);
  for (size_t k = 0; k < tap.weights.size(); ++k) {
    const uint8_t* row = from.pixels.data() + (tap.first + static_cast<int64_t>(k)) * bytes;
    const int32_t weight = tap.weights[k];
    for (int64_t i = 0; i < bytes; ++i) sums[static_cast<size_t>(i)] += row[i] * weight;
  }
  for (int64_t i = 0; i < bytes; ++i) to[i] = Rounded(sums[static_cast<size_t>(i)]);
}

RgbImage Empty(int64_t height, int64_t width) {
  return {.height = height,
          .width = width,
          .pixels = ZeroedVector<uint8_t>(static_cast<size_t>(height * width * kChannels))};
}

}  // namespace

Result<RgbImage> Resize(RgbImage image, int64_t height, int64_t width, const StopToken& stop) {
  if (width != image.width) {
    const std::vector<Taps> taps = TapsOf(image.width, width);
    RgbImage wide = Empty(image.height, width);
    for (int64_t y = 0; y < image.height; ++y) {
      OCTAVO_CHECK(stop.Check());
      ScaleRow(image.pixels.data() + y * image.width * kChannels, taps,
               wide.pixels.data() + y * width * kChannels);
    }
    image = std::move(wide);
  }
  if (height != image.height) {
    const std::vector<Taps> taps = TapsOf(image.height, height);
    RgbImage high = Empty(height, width);
    std::vector<int32_t> sums;
    for (int64_t y = 0; y < height; ++y) {
      OCTAVO_CHECK(stop.Check());
      ScaleColumns(image, taps[static_cast<size_t>(y)], sums,
                   high.pixels.data() + y * width * kChannels);
    }
    image = std::move(high);
  }
  return image;
}

void ShorterSideTo(int64_t side, int64_t& height, int64_t& width) {
  if (width < height) {
    height = side * height / width;
    width = side;
  } else {
    width = side * width / height;
    height = side;
  }
}

Result<RgbImage> CenterCrop(RgbImage image, int64_t height, int64_t width, const StopToken& stop) {
  if (height == image.height && width == image.width) return image;
  const auto half = [](int64_t rest) { return rest / 2 + (rest % 2 == 1 && rest / 2 % 2 == 1); };
  const int64_t top = half(image.height - height), left = half(image.width - width);
  RgbImage crop = Empty(height, width);
  for (int64_t y = 0; y < height; ++y) {
    OCTAVO_CHECK(stop.Check());
    const uint8_t* from = image.pixels.data() + ((top + y) * image.width + left) * kChannels;
    std::copy_n(from, width * kChannels, crop.pixels.data() + y * width * kChannels);
  }
  return crop;
}

}  // namespace octavo::data
