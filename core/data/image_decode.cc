// SPDX-License-Identifier: Apache-2.0
#include "core/data/image_decode.h"

namespace octavo::data {

Failure DamagedImage(std::string_view what, std::string_view why) {
  return Fail(Code::kInvalidArgument, "samples: image '{}' is damaged: {}", what, why)
      .Field(what)
      .Reason("INVALID_SAMPLES");
}

Status Allocate(std::string_view what, uint64_t height, uint64_t width, RgbImage& image) {
  const auto most = static_cast<uint64_t>(kMaxPixels);
  if (height == 0 || width == 0) return DamagedImage(what, "it has no pixels");
  if (height > most || width > most || height * width > most) {
    return Fail(Code::kTooLarge, "samples: image '{}' has {} x {} pixels; at most {} are decoded",
                what, width, height, kMaxPixels)
        .Field(what);
  }
  image.height = static_cast<int64_t>(height);
  image.width = static_cast<int64_t>(width);
  image.pixels.resize(height * width * 3);
  return {};
}

Result<RgbImage> DecodeImage(std::string_view what, const Blob& bytes, const StopToken& stop) {
  const std::string_view text = bytes.text();
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return DecodePng(what, bytes, stop);
  if (text.starts_with("\xff\xd8\xff")) return DecodeJpeg(what, bytes, stop);
  return Fail(Code::kUnimplemented, "samples: image '{}' is neither PNG nor JPEG", what)
      .Field(what);
}

}  // namespace octavo::data
