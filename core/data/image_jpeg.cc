// SPDX-License-Identifier: Apache-2.0
// jpeglib.h needs the names of cstdio, and jerror.h those of jpeglib.h.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <csetjmp>

#include "core/data/image_decode.h"

namespace octavo::data {
namespace {

// Encoders make about ten; each costs a run over all pixels.
constexpr int kMaxScans = 500;

// libjpeg reports errors by a function that must not return: it jumps.  Functions between setjmp
// and libjpeg have no destructors to skip, and all that they change is here.
struct JpegReader {
  const StopToken& stop;
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf jump = {};
  bool stopped = false;
  bool truncated = false;
  char message[JMSG_LENGTH_MAX] = {};
  RgbImage image = {};

  explicit JpegReader(const StopToken& token) : stop(token) {}
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
};

JpegReader& ReaderOf(j_common_ptr jpeg) { return *static_cast<JpegReader*>(jpeg->client_data); }

[[noreturn]] void OnError(j_common_ptr jpeg) {
  JpegReader& reader = ReaderOf(jpeg);
  jpeg->err->format_message(jpeg, reader.message);
  std::longjmp(reader.jump, 1);
}

// Images in use have stray bytes between markers, which do not matter; missing pixels do.
void OnMessage(j_common_ptr jpeg, int level) {
  if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF) ReaderOf(jpeg).truncated = true;
}

// The scans of a progressive image are read before the first row is there.
void OnProgress(j_common_ptr jpeg) {
  JpegReader& reader = ReaderOf(jpeg);
  if (reader.stop.StopRequested()) {
    reader.stopped = true;
    std::longjmp(reader.jump, 1);
  }
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMaxScans) {
    std::snprintf(reader.message, sizeof(reader.message), "it has more than %d scans", kMaxScans);
    std::longjmp(reader.jump, 1);
  }
}

bool ReadHead(JpegReader& reader, std::string_view bytes) {
  reader.jpeg.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = &OnError;
  reader.errors.emit_message = &OnMessage;
  reader.jpeg.client_data = &reader;
  if (setjmp(reader.jump)) return false;
  jpeg_create_decompress(&reader.jpeg);
  reader.progress.progress_monitor = &OnProgress;
  reader.jpeg.progress = &reader.progress;
  jpeg_mem_src(&reader.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&reader.jpeg, TRUE);
  return true;
}

bool ReadPixels(JpegReader& reader) {
  if (setjmp(reader.jump)) return false;
  // The same on every processor; the other methods are not.
  reader.jpeg.dct_method = JDCT_ISLOW;
  reader.jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&reader.jpeg);
  const auto stride = static_cast<size_t>(reader.image.width) * 3;
  while (reader.jpeg.output_scanline < reader.jpeg.output_height) {
    if (reader.stop.StopRequested()) {
      reader.stopped = true;
      return false;
    }
    JSAMPROW row = reader.image.pixels.data() + reader.jpeg.output_scanline * stride;
    jpeg_read_scanlines(&reader.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&reader.jpeg);
  return true;
}

}  // namespace

Result<RgbImage> DecodeJpeg(std::string_view what, const Blob& bytes, const StopToken& stop) {
  JpegReader reader(stop);
  if (!ReadHead(reader, bytes.text())) return DamagedImage(what, reader.message);
  const J_COLOR_SPACE space = reader.jpeg.jpeg_color_space;
  if (space != JCS_GRAYSCALE && space != JCS_RGB && space != JCS_YCbCr) {
    return Fail(Code::kUnimplemented, "samples: image '{}' is a JPEG in CMYK; convert it to RGB",
                what)
        .Field(what);
  }
  OCTAVO_CHECK(Allocate(what, reader.jpeg.image_height, reader.jpeg.image_width, reader.image));
  const bool done = ReadPixels(reader);
  if (reader.stopped) OCTAVO_CHECK(stop.Check());
  if (!done) return DamagedImage(what, reader.message);
  if (reader.truncated) return DamagedImage(what, "it is truncated");
  return std::move(reader.image);
}

}  // namespace octavo::data
