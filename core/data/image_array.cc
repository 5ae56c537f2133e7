// SPDX-License-Identifier: Apache-2.0
#include "core/data/image_array.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/mapped_pages.h"
#include "core/data/image_decode.h"

namespace octavo::data {
namespace {

// An image's file in an archive.
constexpr uint64_t kMaxFile = uint64_t{256} << 20;

constexpr size_t kStorePart = size_t{1} << 18;  // pixels between two looks at a stop

class ImageArray : public Array {
 public:
  ImageArray(std::string name, const ImageSpec& spec)
      : Array(std::move(name), ir::DType::kF32, {}), spec_(spec) {
    if (spec_.height > 0) SetShape(ir::DType::kF32);
  }

  Status Bind(const ir::Type& type) override {
    const ir::Shape& shape = type.shape;
    if (shape.size() != 3 && shape.size() != 4) {
      return Fail(Code::kInvalidArgument,
                  "samples: input '{}' has shape [{}], and no image fits that", name(),
                  fmt::join(shape, ","))
          .Field("image")
          .Reason("INVALID_SAMPLES");
    }
    const int64_t* sides = shape.data() + shape.size() - 3;
    if (!spec_.layout) {
      const bool last = sides[0] != 1 && sides[0] != 3 && (sides[2] == 1 || sides[2] == 3);
      layout_ = last ? ImageLayout::kNhwc : ImageLayout::kNchw;
    }
    const bool first = layout_ == ImageLayout::kNchw;
    if (!spec_.order) order_ = sides[first ? 0 : 2] == 1 ? ImageOrder::kGray : ImageOrder::kRgb;
    if (order_ == ImageOrder::kGray && std::max(spec_.mean.size(), spec_.std.size()) > 1) {
      return Fail(Code::kUsage,
                  "--image: grey images have one channel, so mean and std must be one number")
          .Field("image");
    }
    if (spec_.height == 0) {
      height_ = sides[first ? 1 : 0];
      width_ = sides[first ? 2 : 1];
    }
    const int64_t most = std::max(height_, width_);
    if (std::min(height_, width_) < 1 || most > kMaxImageSide ||
        (spec_.resize > 0 && spec_.resize < most)) {
      return Fail(Code::kUsage, "--image: an image cannot be scaled to {}x{}; pass size", height_,
                  width_)
          .Field("image");
    }
    SetShape(type.dtype == ir::DType::kU8 ? ir::DType::kU8 : ir::DType::kF32);
    return {};
  }

  Status Read(int64_t first, std::span<std::byte> out, const StopToken& stop) override {
    if (values_.empty()) OCTAVO_CHECK(Decode(stop));
    const size_t begin = static_cast<size_t>(first) * static_cast<size_t>(ir::SizeOf(dtype()));
    for (size_t done = 0; done < out.size(); done += kReadPart) {
      OCTAVO_CHECK(stop.Check());
      std::memcpy(out.data() + done, values_.data() + begin + done,
                  std::min(kReadPart, out.size() - done));
    }
    return {};
  }

  // Assigning {} would keep the memory.
  void Release() override { ZeroedVector<std::byte>().swap(values_); }

 protected:
  // The bytes of the file.
  virtual Result<Blob> File(const StopToken& stop) = 0;

 private:
  int64_t channels() const { return order_ == ImageOrder::kGray ? 1 : 3; }

  void SetShape(ir::DType dtype) {
    if (layout_ == ImageLayout::kNchw) {
      SetType(dtype, {1, channels(), height_, width_});
    } else {
      SetType(dtype, {1, height_, width_, channels()});
    }
  }

  Status Decode(const StopToken& stop) {
    OCTAVO_TRY(const Blob file, File(stop));
    OCTAVO_TRY(RgbImage image, DecodeImage(name(), file, stop));
    ReleasePages(file.bytes());
    int64_t height = height_, width = width_;
    if (spec_.crop) {
      height = image.height;
      width = image.width;
      ShorterSideTo(spec_.resize > 0 ? spec_.resize : std::max(height_, width_), height, width);
      if (height > kMaxPixels / width) {
        return DamagedImage(name(), "one side is too long for its shorter one");
      }
    }
    OCTAVO_TRY(image, Resize(std::move(image), height, width, stop));
    if (spec_.crop) {
      OCTAVO_TRY(image, CenterCrop(std::move(image), height_, width_, stop));
    }
    if (dtype() == ir::DType::kU8) return Store<uint8_t>(image, stop);
    return Store<float>(image, stop);
  }

  // The value of each of the 256 pixels of a channel.
  template <class T>
  std::array<T, 256> ValuesOf(size_t channel) const {
    const bool bytes = std::is_same_v<T, uint8_t>;
    const double scale = spec_.scale.value_or(bytes ? 1.0 : 1.0 / 255.0);
    const auto of = [channel](const std::vector<double>& list, double otherwise) {
      if (list.empty()) return otherwise;
      return list.size() == 1 ? list[0] : list[channel];
    };
    std::array<T, 256> values = {};
    for (size_t pixel = 0; pixel < values.size(); ++pixel) {
      const double value =
          (static_cast<double>(pixel) * scale - of(spec_.mean, 0)) / of(spec_.std, 1);
      if constexpr (std::is_same_v<T, uint8_t>) {
        values[pixel] = static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0));
      } else {
        values[pixel] = static_cast<T>(value);
      }
    }
    return values;
  }

  // Luma of ITU-R 601 as Pillow's mode L has it.
  static uint8_t Gray(const uint8_t* pixel) {
    return static_cast<uint8_t>((pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >>
                                16);
  }

  template <class T>
  Status Store(const RgbImage& image, const StopToken& stop) {
    const auto pixels = static_cast<size_t>(height_ * width_);
    const auto count = static_cast<size_t>(channels());
    const bool planes = layout_ == ImageLayout::kNchw;
    values_.resize(pixels * count * sizeof(T));
    T* const to = reinterpret_cast<T*>(values_.data());
    for (size_t c = 0; c < count; ++c) {
      const std::array<T, 256> values = ValuesOf<T>(c);
      const size_t from = order_ == ImageOrder::kBgr ? 2 - c : c;
      for (size_t i = 0; i < pixels; ++i) {
        if (i % kStorePart == 0) OCTAVO_CHECK(stop.Check());
        const uint8_t* pixel = image.pixels.data() + i * 3;
        const uint8_t byte = order_ == ImageOrder::kGray ? Gray(pixel) : pixel[from];
        to[planes ? c * pixels + i : i * count + c] = values[byte];
      }
    }
    return {};
  }

  ImageSpec spec_;
  int64_t height_ = spec_.height, width_ = spec_.width;
  ImageLayout layout_ = spec_.layout.value_or(ImageLayout::kNchw);
  ImageOrder order_ = spec_.order.value_or(ImageOrder::kRgb);
  ZeroedVector<std::byte> values_ = {};
};

class MappedImage : public ImageArray {
 public:
  MappedImage(std::string name, const ImageSpec& spec, const Blob& bytes)
      : ImageArray(std::move(name), spec), bytes_(bytes) {}

 protected:
  Result<Blob> File(const StopToken&) override { return bytes_; }

 private:
  Blob bytes_;
};

class MemberImage : public ImageArray {
 public:
  MemberImage(std::string name, const ImageSpec& spec, std::shared_ptr<ZipArchive> archive,
              ZipMember member)
      : ImageArray(std::move(name), spec),
        archive_(std::move(archive)),
        member_(std::move(member)) {}

 protected:
  Result<Blob> File(const StopToken& stop) override {
    if (member_.size > kMaxFile) {
      return Fail(Code::kTooLarge, "samples: image '{}' has {} bytes; at most {} are read", name(),
                  member_.size, kMaxFile)
          .Field(name());
    }
    OCTAVO_TRY(const std::unique_ptr<ZipReader> reader, archive_->Read(member_));
    ir::Tensor bytes(ir::DType::kU8, {static_cast<int64_t>(member_.size)});
    OCTAVO_CHECK(reader->Read({bytes.mutable_raw(), member_.size}, stop));
    return bytes.ToBlob();
  }

 private:
  std::shared_ptr<ZipArchive> archive_;
  ZipMember member_;
};

}  // namespace

Result<ArrayPtr> OpenImage(std::string name, const ImageSpec& spec, const Blob& bytes) {
  return std::make_shared<MappedImage>(std::move(name), spec, bytes);
}

Result<ArrayPtr> OpenImage(std::string name, const ImageSpec& spec,
                           std::shared_ptr<ZipArchive> archive, const ZipMember& member) {
  return std::make_shared<MemberImage>(std::move(name), spec, std::move(archive), member);
}

}  // namespace octavo::data
