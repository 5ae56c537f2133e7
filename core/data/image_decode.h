// SPDX-License-Identifier: Apache-2.0
// Decodes PNG (libpng) and JPEG (libjpeg-turbo) into 8-bit RGB.  Files are untrusted: their size is
// checked before any pixel is decoded.
#pragma once

#include <string_view>

#include "core/base/blob.h"
#include "core/data/image_resize.h"

namespace octavo::data {

// The most pixels of an image.
inline constexpr int64_t kMaxPixels = int64_t{64} << 20;

// The content decides the format.  Grey becomes equal R, G and B, 16 bits become their upper 8, and
// transparency is dropped; a rotation in EXIF data is not applied.  kInvalidArgument (reason
// INVALID_SAMPLES) for a damaged or truncated image, kTooLarge above kMaxPixels, kUnimplemented for
// other formats and CMYK.
Result<RgbImage> DecodeImage(std::string_view what, const Blob& bytes, const StopToken& stop);

Result<RgbImage> DecodePng(std::string_view what, const Blob& bytes, const StopToken& stop);
Result<RgbImage> DecodeJpeg(std::string_view what, const Blob& bytes, const StopToken& stop);

// Makes room for an image, or refuses its size.
Status Allocate(std::string_view what, uint64_t height, uint64_t width, RgbImage& image);
Failure DamagedImage(std::string_view what, std::string_view why);

}  // namespace octavo::data
