// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "core/data/image_decode.h"

namespace octavo::data {
namespace {

// libpng reports errors by longjmp, which skips destructors: functions between setjmp and libpng
// have none to skip, and all that they change is here.
struct PngReader {
  std::string_view left = {};  // what is not yet read
  const StopToken& stop;
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool stopped = false;
  char message[200] = {};
  RgbImage image = {};

  PngReader(std::string_view bytes, const StopToken& token) : left(bytes), stop(token) {}
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
  std::strncpy(reader.message, message, sizeof(reader.message) - 1);
  png_longjmp(png, 1);
}

void OnWarning(png_structp, png_const_charp) {}

void OnRead(png_structp png, png_bytep out, size_t size) {
  auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (size > reader.left.size()) png_error(png, "it is truncated");
  std::memcpy(out, reader.left.data(), size);
  reader.left.remove_prefix(size);
}

bool ReadHead(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_read_fn(reader.png, &reader, &OnRead);
  png_read_info(reader.png, reader.info);
  return true;
}

bool ReadPixels(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_expand(reader.png);  // palettes, fewer than 8 bits, transparent colours
  png_set_strip_16(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_gray_to_rgb(reader.png);
  const int passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  const auto stride = static_cast<size_t>(reader.image.width) * 3;
  if (png_get_rowbytes(reader.png, reader.info) != stride) png_error(reader.png, "odd rows");
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < reader.image.height; ++y) {
      if (reader.stop.StopRequested()) {
        reader.stopped = true;
        return false;
      }
      png_read_row(reader.png, reader.image.pixels.data() + static_cast<size_t>(y) * stride,
                   nullptr);
    }
  }
  png_read_end(reader.png, nullptr);
  return true;
}

}  // namespace

Result<RgbImage> DecodePng(std::string_view what, const Blob& bytes, const StopToken& stop) {
  PngReader reader(bytes.text(), stop);
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, &OnError, &OnWarning);
  if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return Fail(Code::kResourceExhausted, "libpng has no memory");
  if (!ReadHead(reader)) return DamagedImage(what, reader.message);
  OCTAVO_CHECK(Allocate(what, png_get_image_height(reader.png, reader.info),
                        png_get_image_width(reader.png, reader.info), reader.image));
  if (!ReadPixels(reader)) {
    if (reader.stopped) OCTAVO_CHECK(stop.Check());
    return DamagedImage(what, reader.message);
  }
  return std::move(reader.image);
}

}  // namespace octavo::data
