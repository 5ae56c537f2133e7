// SPDX-License-Identifier: Apache-2.0
// Images as samples.  The expected bytes are those of Pillow 9.4 (libjpeg-turbo 2.1.5).
#include <gmock/gmock.h>

#include "core/base/sha256.h"
#include "core/data/image_decode.h"
#include "core/data/image_spec.h"
#include "tests/core/data/cases.h"
#include "tests/core/data/image_files.h"

namespace octavo::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RgbImage Pattern(int64_t height, int64_t width) {
  RgbImage image{.height = height, .width = width};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        image.pixels.push_back(static_cast<uint8_t>(y * 37 + x * 11 + c * 59 + (y * x) % 7 * 13));
      }
    }
  }
  return image;
}

std::string Digest(const RgbImage& image) {
  Sha256 hash;
  hash.Update(std::as_bytes(std::span(image.pixels)));
  return hash.Finish();
}

RgbImage Resized(int64_t height, int64_t width, int64_t to_height, int64_t to_width) {
  return Resize(Pattern(height, width), to_height, to_width, {}).value();
}

TEST(Resize, SmallImagesHaveTheBytesOfPillow) {
  EXPECT_THAT(Resized(4, 5, 2, 3).pixels, ElementsAre(35, 94, 153, 67, 126, 157, 91, 150, 194, 102,
                                                      161, 173, 157, 156, 80, 169, 165, 130));
  EXPECT_THAT(
      Resized(2, 2, 3, 4).pixels,
      ElementsAre(0, 59, 118, 3, 62, 121, 8, 67, 126, 11, 70, 129, 19, 78, 137, 23, 82, 141, 32, 91,
                  150, 36, 95, 154, 37, 96, 155, 43, 102, 161, 55, 114, 173, 61, 120, 179));
  EXPECT_THAT(Resized(3, 4, 3, 2).pixels, ElementsAre(8, 67, 126, 25, 84, 143, 54, 113, 172, 92,
                                                      151, 210, 100, 159, 182, 159, 218, 57));
}

TEST(Resize, LargerImagesHaveTheBytesOfPillow) {
  EXPECT_EQ(Digest(Resized(97, 131, 64, 48)),
            "5a17d989e9c473c22e7b4051f821a11aa75f1fb9bc0561e15096e285d4017ce0");
  EXPECT_EQ(Digest(Resized(61, 47, 224, 224)),
            "8a8d4771adcec89b0d4269fcbba14c65ec401b91ba891a8e926994b1f9cce8c0");
  EXPECT_EQ(Digest(Resized(500, 333, 256, 170)),
            "6c74ed08f08ff87875cc8926d6c8d48876cfadc6318fbbd5647d56914ec5454f");
}

TEST(Resize, TheShorterSideAndTheMiddleAreThoseOfTorchvision) {
  int64_t height = 30, width = 41;
  ShorterSideTo(16, height, width);
  EXPECT_EQ(height, 16);
  EXPECT_EQ(width, 21);
  EXPECT_EQ(Digest(*CenterCrop(Resized(30, 41, height, width), 8, 8, {})),
            "511d05186373abd3541ebb454417290cc4bc9c28b55c08c0376d32d5e5468a8f");
}

std::string Decoded(std::string_view base64) {
  const auto image = DecodeImage("a", Blob(Bytes(base64)), {});
  return image ? Digest(*image) : image.error().message;
}

TEST(DecodeImage, PngAndJpegHaveThePixelsOfPillow) {
  const std::string rgb = "d1f57633944cc06113b1fa101ec5a897badd5b445c8440b8490b40450aa243fc";
  EXPECT_EQ(Decoded(kPngRgb), rgb);
  EXPECT_EQ(Decoded(kPngAlpha), rgb);
  EXPECT_EQ(Decoded(kPngGray), "69bd8258f1af8b30d563c941a7a252d66f8ccbb3923feba8f6a5c6b5e42f86f7");
  EXPECT_EQ(Decoded(kPngPalette),
            "f5a8fa8d4acd10561f663becebdac7afa6cbf8a22af693e9b67e0eb530f2cdc4");
  const std::string jpeg = "ede4c648394af90ce877523c3441cf9941e645d25c8c7a2bea092876793536b6";
  EXPECT_EQ(Decoded(kJpeg), jpeg);
  EXPECT_EQ(Decoded(kJpegProgressive), jpeg);
  EXPECT_EQ(Decoded(kJpegGray), "237e62e7511eac93e6080fcd207c721d4fa488d1b5bd89494d1bdf48c7f97617");
}

TEST(DecodeImage, SixteenBitsBecomeTheUpperEight) {
  const auto image = DecodeImage("a", Blob(Bytes(kPng16Bits)), {});
  ASSERT_TRUE(image) << image.error().message;
  for (size_t i = 0; i < 192; ++i) ASSERT_EQ(image->pixels[3 * i], i * 300 % 65536 >> 8) << i;
}

TEST(DecodeImage, OtherFormatsAreRefusedByName) {
  EXPECT_THAT(Decoded(kJpegCmyk), HasSubstr("CMYK"));
  const auto gif = DecodeImage("a.png", Blob(std::string("GIF89a")), {});
  ASSERT_FALSE(gif);
  EXPECT_EQ(gif.error().message, "samples: image 'a.png' is neither PNG nor JPEG");
}

TEST(DecodeImage, EveryTruncatedImageIsRefused) {
  for (const std::string_view file : {kPngRgb, kJpeg, kJpegProgressive}) {
    const std::string whole = Bytes(file);
    for (size_t size = 0; size + 2 < whole.size(); ++size) {
      const auto read = DecodeImage("a", Blob(whole.substr(0, size)), {});
      ASSERT_FALSE(read) << size;
    }
  }
}

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

// Replaces width and height in the header of an image, and a PNG's checksum of it.
TEST(DecodeImage, AHugeImageIsRefusedBeforeItIsDecoded) {
  std::string jpeg = Bytes(kJpeg);
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  for (size_t i = 5; i < 9; ++i) jpeg[frame + i] = '\xea';
  const auto large = DecodeImage("a.jpg", Blob(jpeg), {});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::kTooLarge) << large.error().message;
  std::string png = Bytes(kPngRgb);
  png.replace(16, 8, BigEndian(900'000) + BigEndian(900'000));
  // CRC of "IHDR" and its 13 bytes.
  uint32_t crc = 0xffffffff;
  for (size_t i = 12; i < 29; ++i) {
    crc ^= static_cast<uint8_t>(png[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  png.replace(29, 4, BigEndian(~crc));
  const auto huge = DecodeImage("a.png", Blob(png), {});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, Code::kTooLarge) << huge.error().message;
}

TEST(DecodeImage, FlippedBytesGiveAnImageOrAnError) {
  for (const std::string_view file : {kPngRgb, kPngPalette, kJpeg, kJpegProgressive}) {
    const std::string whole = Bytes(file);
    for (size_t i = 2; i < whole.size(); ++i) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ 0x55);
      const auto read = DecodeImage("a", Blob(flipped), {});
      if (read) {
        ASSERT_EQ(read->pixels.size(), static_cast<size_t>(read->height * read->width * 3));
      }
    }
  }
}

TEST(DecodeImage, AStopIsHeardWhileDecoding) {
  const StopToken stop;
  stop.RequestStop();
  for (const std::string_view file : {kPngRgb, kJpeg, kJpegProgressive}) {
    const auto read = DecodeImage("a", Blob(Bytes(file)), stop);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kCancelled);
  }
}

TEST(ImageSpec, KeysAreSeparatedFromListsByTheirEqualSign) {
  const auto spec = ParseImageSpec(
      "size=192x256, resize=300, crop=center, mean=0.485,0.456,0.406, std=1/4, layout=NHWC, "
      "order=BGR, scale=1/127.5");
  ASSERT_TRUE(spec) << spec.error().message;
  const ImageSpec want{.height = 192,
                       .width = 256,
                       .resize = 300,
                       .crop = true,
                       .scale = 1 / 127.5,
                       .mean = {0.485, 0.456, 0.406},
                       .std = {0.25},
                       .layout = ImageLayout::kNhwc,
                       .order = ImageOrder::kBgr};
  EXPECT_EQ(*spec, want);
}

TEST(ImageSpec, AWrongKeyOrValueIsNamed) {
  for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
           {"sise=3", "'sise' is not a key"},
           {"size=0", "size=0 must be"},
           {"size=20000", "from 1 to 16384"},
           {"mean=1,2", "one number or three"},
           {"std=0", "positive"},
           {"layout=nchw", "one of NCHW, NHWC"},
           {"size=8,size=8", "given twice"},
           {"resize=8", "needs crop=center"},
           {"size=9,resize=8,crop=center", "at least the size"},
           {"224", "KEY=VALUE"},
           {"", "KEY=VALUE"}}) {
    const auto spec = ParseImageSpec(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().code, Code::kUsage) << text;
    EXPECT_THAT(spec.error().message, HasSubstr(word));
  }
}

NamedBlob Png(const std::string& name) { return {name, Blob(Bytes(kPngRgb))}; }

TEST(Images, AnImageIsASampleInTheOrderOfNames) {
  const RgbImage pattern = Pattern(12, 16);
  const auto samples =
      Cut({Png("a.png"), {"b.JPG", Blob(Bytes(kJpeg))}}, {FloatInput("x", {1, 3, 12, 16})},
          {.image = "size=12x16,mean=0.5,0.25,0,std=0.5,1,2"});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->count, 2);
  const ir::Batches::Batch batch = Read(samples, 0);
  const std::span<const float> values = batch[0].values<float>();
  const double mean[] = {0.5, 0.25, 0}, std[] = {0.5, 1, 2};
  for (size_t c = 0; c < 3; ++c) {
    for (size_t i = 0; i < 192; ++i) {
      const double real = pattern.pixels[i * 3 + c] * (1.0 / 255.0);
      ASSERT_EQ(values[c * 192 + i], static_cast<float>((real - mean[c]) / std[c]));
    }
  }
  EXPECT_NE(Read(samples, 1), batch);
}

TEST(Images, LayoutOrderAndChannelsComeFromTheInputUnlessGiven) {
  const RgbImage pattern = Pattern(12, 16);
  const auto last = Cut({Png("a.png")}, {FloatInput("x", {1, 12, 16, 3})}, {.image = "scale=1"});
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(Read(last, 0)[0].values<float>()[3], pattern.pixels[3]);
  const auto bgr =
      Cut({Png("a.png")}, {FloatInput("x", {1, 3, 12, 16})}, {.image = "scale=1,order=BGR"});
  ASSERT_TRUE(bgr) << bgr.error().message;
  EXPECT_EQ(Read(bgr, 0)[0].values<float>()[1], pattern.pixels[5]);
  const auto gray =
      Cut({Png("a.png")}, {Input("x", ir::DType::kU8, {1, 1, 12, 16})}, {.image = "size=12x16"});
  ASSERT_TRUE(gray) << gray.error().message;
  Sha256 hash;
  const ir::Batches::Batch batch = Read(gray, 0);
  hash.Update(batch[0].raw_bytes());
  EXPECT_EQ(hash.Finish(), "b1b6b2c2ff062650bd895d2e69b52b73e94cac922530d86ab00faca29c01fb0e");
}

TEST(Images, BatchesAndArchivesOfImagesWork) {
  const auto archive = PackZip({{"p/a.png", Png("").bytes}, {"p/b.png", Png("").bytes}});
  ASSERT_TRUE(archive);
  const auto samples = Cut({{"i.zip", *archive}}, {FloatInput("x", {2, 3, 4, 4})},
                           {.image = "size=4,resize=6,crop=center"});
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->batches.size(), 1);
  const ir::Batches::Batch batch = Read(samples, 0);
  const std::span<const float> values = batch[0].values<float>();
  EXPECT_TRUE(std::equal(values.begin(), values.begin() + 48, values.begin() + 48));
}

TEST(Images, WithoutImageTheErrorNamesTheFlag) {
  const auto samples = Cut({Png("a.png")}, {FloatInput("x", {1, 3, 12, 16})});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().code, Code::kUsage);
  EXPECT_THAT(samples.error().message, HasSubstr("--image"));
  const auto flat = Cut({Png("a.png")}, {FloatInput("x", {1, 40})}, {.image = "size=4"});
  ASSERT_FALSE(flat);
  EXPECT_THAT(flat.error().message, HasSubstr("no image fits"));
}

}  // namespace
}  // namespace octavo::data
