#include "core/reference/kernels/conv.h"

#include <algorithm>

#include "core/reference/kernels/direct.h"
#include "core/reference/kernels/field.h"
#include "core/reference/kernels/gemm.h"
#include "core/reference/kernels/narrow.h"
#include "core/reference/kernels/phases.h"

namespace octavo::reference {
namespace {

// So many output channels of a group share what is read of its input, where there are as many
// groups to share among the threads.
constexpr int64_t kFewChannels = 8;
constexpr int64_t kFewGroups = 8;

// A larger plane of a depthwise convolution is laid out in bands of some rows, so that what is
// written is read from the nearest cache.
constexpr int64_t kPlaneFloats = 8192;
constexpr int64_t kBandFloats = 2048;

// Up to so many output channels do not repay the packing of an input that can be read in place.
constexpr int64_t kRowsInPlace = 128;

// Pointwise convolutions of more pixels are products with vectors of pixels.
constexpr int64_t kDirectPixels = 512;

int64_t OutSize(int64_t in, int64_t pads, int64_t kernel, int64_t dilation, int64_t stride) {
  const int64_t room = in + pads - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace

using internal::ColumnPacker;
using internal::Field;
using internal::Product;
using internal::Range;
using internal::Scratch;
using internal::Tiles;

int64_t ConvOutHeight(const ConvShape& s) {
  return OutSize(s.in_height, s.pad_top + s.pad_bottom, s.kernel_height, s.dilation_height,
                 s.stride_height);
}
int64_t ConvOutWidth(const ConvShape& s) {
  return OutSize(s.in_width, s.pad_left + s.pad_right, s.kernel_width, s.dilation_width,
                 s.stride_width);
}
struct ConvDriver {
  static PackedConv Begin(const ConvShape& shape) {
    PackedConv conv;
    conv.shape_ = shape;
    conv.out_height_ = ConvOutHeight(shape);
    conv.out_width_ = ConvOutWidth(shape);
    conv.tiles_ = &internal::CurrentTiles();
    conv.path_ = PathOf(conv);
    return conv;
  }

  static PackedConv::Path PathOf(const PackedConv& conv) {
    const ConvShape& s = conv.shape_;
    if (s.groups > 1 && s.in_channels == s.groups) return PackedConv::Path::kDepthwise;
    // A row's last vector should be more full than empty.
    const int64_t lanes = conv.tiles_->lanes;
    const int64_t vectors = (conv.out_width_ + lanes - 1) / lanes;
    const bool few = s.groups >= kFewGroups && s.out_channels / s.groups <= kFewChannels;
    if (few && !IsProduct(conv) && 3 * conv.out_width_ >= 2 * vectors * lanes) {
      return PackedConv::Path::kFewEach;
    }
    if (IsDirect(conv)) return PackedConv::Path::kDirect;
    return PackedConv::Path::kDense;
  }

  // With one tap a channel, what is laid out holds the pixels as the product reads them.
  static bool ReadsInPlace(const ConvShape& s) {
    return s.kernel_height == 1 && s.kernel_width == 1;
  }

  // Vectors of channels should be filled.  Large planes of a pointwise convolution are read a few
  // pixels of each at a time, which the caches like less than whole vectors of them.
  static bool IsDirect(const PackedConv& conv) {
    const ConvShape& s = conv.shape_;
    const int64_t outs = s.out_channels / s.groups;
    if (ReadsInPlace(s) && conv.out_height_ * conv.out_width_ > kDirectPixels) return false;
    return outs * 4 >= internal::RoundUp(outs, conv.tiles_->lanes) * 3;
  }

  static int64_t Taps(const ConvShape& s) {
    return s.in_channels / s.groups * s.kernel_height * s.kernel_width;
  }

  // `weights` as [out_channels, taps].
  static void SetWeights(PackedConv& conv, const float* weights) {
    const ConvShape& s = conv.shape_;
    const int64_t taps = Taps(s), rows = s.out_channels / s.groups;
    if (conv.path_ == PackedConv::Path::kDirect) {
      const int64_t size = internal::PackedChannelsSize(*conv.tiles_, rows, taps);
      auto packed = internal::Memory(s.groups * size);
      for (int64_t g = 0; g < s.groups; ++g) {
        internal::PackChannels(*conv.tiles_, weights + g * rows * taps, rows, taps,
                               packed.get() + g * size);
      }
      conv.weights_ = std::move(packed);
      return;
    }
    if (conv.path_ != PackedConv::Path::kDense) {
      auto copy = internal::Memory(s.out_channels * taps);
      std::copy_n(weights, s.out_channels * taps, copy.get());
      conv.weights_ = std::move(copy);
      return;
    }
    const int64_t size = internal::PackedRowsSize(*conv.tiles_, rows, taps);
    auto packed = internal::Memory(s.groups * size);
    const int64_t panels = (rows + conv.tiles_->rows - 1) / conv.tiles_->rows;
    for (int64_t g = 0; g < s.groups; ++g) {
      internal::PackRows(*conv.tiles_, {weights + g * rows * taps, rows, taps, taps, 1},
                         {0, panels}, packed.get() + g * size);
    }
    conv.weights_ = std::move(packed);
  }

  // A 1x1 kernel with stride 1 and no padding reads the input where it lies.
  static bool IsProduct(const PackedConv& conv) {
    const ConvShape& s = conv.shape_;
    return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_height == 1 &&
           s.stride_width == 1 && s.pad_top == 0 && s.pad_left == 0 &&
           conv.out_height_ == s.in_height && conv.out_width_ == s.in_width;
  }

  static Field FieldOf(const PackedConv& conv) {
    const ConvShape& s = conv.shape_;
    const int64_t step_height = s.kernel_height == 1 ? 1 : s.stride_height;
    const int64_t phases = s.kernel_width == 1 ? 1 : s.stride_width;
    return {.rows = (conv.out_height_ - 1) * step_height +
                    (s.kernel_height - 1) * s.dilation_height + 1,
            .phases = phases,
            .width = conv.out_width_ + (s.kernel_width - 1) * s.dilation_width / phases,
            .step_height = step_height,
            .out_height = conv.out_height_,
            .out_width = conv.out_width_};
  }

  static internal::Placement PlacementOf(const PackedConv& conv) {
    const ConvShape& s = conv.shape_;
    return {.in_height = s.in_height,
            .in_width = s.in_width,
            .top = s.pad_top,
            .left = s.pad_left,
            .skip_height = s.kernel_height == 1 ? s.stride_height : 1,
            .skip_width = s.kernel_width == 1 ? s.stride_width : 1};
  }

  // Where the taps of one output channel lie, relative to its group's first plane.
  static std::vector<int64_t> TapOffsets(const PackedConv& conv, const Field& field) {
    const ConvShape& s = conv.shape_;
    std::vector<int64_t> offsets;
    offsets.reserve(static_cast<size_t>(Taps(s)));
    for (int64_t c = 0; c < s.in_channels / s.groups; ++c) {
      for (int64_t i = 0; i < s.kernel_height; ++i) {
        for (int64_t j = 0; j < s.kernel_width; ++j) {
          offsets.push_back(c * field.plane() +
                            field.Tap(i * s.dilation_height, j * s.dilation_width));
        }
      }
    }
    return offsets;
  }

  static Scratch MakeField(const PackedConv& conv, const Field& field, const float* x,
                           ThreadPool& pool) {
    const ConvShape& s = conv.shape_;
    const int64_t planes = s.batch * s.in_channels;
    Scratch data(planes * field.plane() + internal::kFieldSlack);
    std::fill_n(data.get() + planes * field.plane(), internal::kFieldSlack, 0.0f);
    const internal::Placement placement = PlacementOf(conv);
    const internal::Interior interior = internal::InteriorOf(field, placement);
    pool.For(planes, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        internal::FillPlane(*conv.tiles_, field, placement, interior,
                            x + i * s.in_height * s.in_width, internal::Border::kWritten,
                            data.get() + i * field.plane());
      }
    });
    return data;
  }

  // The field of so many output rows as are laid out at a time.
  static Field BandField(const Field& plane) {
    if (plane.plane() <= kPlaneFloats) return plane;
    const int64_t reach = plane.rows - (plane.out_height - 1) * plane.step_height;
    const int64_t rows = kBandFloats / (plane.phases * plane.width) - reach;
    Field band = plane;
    band.out_height = std::clamp<int64_t>(rows / plane.step_height + 1, 1, plane.out_height);
    band.rows = (band.out_height - 1) * plane.step_height + reach;
    return band;
  }

  static void RunDepthwise(const PackedConv& conv, const float* x, const float* bias, float* y,
                           ThreadPool& pool) {
    const ConvShape& s = conv.shape_;
    if (internal::IsNarrow(*conv.tiles_, s)) {
      return internal::RunNarrow(*conv.tiles_, s, conv.weights_.get(), x, bias, y, pool);
    }
    const Field field = BandField(FieldOf(conv));
    const std::vector<int64_t> offsets = TapOffsets(conv, field);
    const int64_t taps = Taps(s), multiple = s.out_channels / s.groups;
    const bool square = s.kernel_height == s.kernel_width && s.dilation_height == 1;
    std::vector<internal::Band> bands;
    for (int64_t row = 0; row < conv.out_height_; row += field.out_height) {
      bands.push_back(internal::BandOf(field, PlacementOf(conv), row));
    }
    if (bands.size() == 1) bands[0].border = internal::Border::kCleared;
    pool.For(s.batch * s.in_channels, 1, [&](int64_t begin, int64_t end) {
      const Scratch memory(field.plane() + internal::kFieldSlack);
      std::fill_n(memory.get(), field.plane() + internal::kFieldSlack, 0.0f);
      for (int64_t i = begin; i < end; ++i) {
        for (const internal::Band& band : bands) {
          internal::FillPlane(*conv.tiles_, field, band.placement, band.interior,
                              x + i * s.in_height * s.in_width, band.border, memory.get());
          for (int64_t o = i * multiple; o < (i + 1) * multiple; ++o) {
            const int64_t channel = o % s.out_channels;
            conv.tiles_->row[0]({.x = memory.get(),
                                 .x_stride = field.Pixel(1, 0),
                                 .offsets = offsets.data(),
                                 .weights = conv.weights_.get() + channel * taps,
                                 .taps = taps,
                                 .pitch = square ? field.phases * field.width : 0,
                                 .bias = bias == nullptr ? nullptr : bias + channel,
                                 .y = y + (o * conv.out_height_ + band.row) * conv.out_width_,
                                 .y_stride = field.out_width,
                                 .width = field.out_width,
                                 .rows = std::min(field.out_height, conv.out_height_ - band.row)});
          }
        }
      }
    });
  }

  // Groups of few output channels: no input is packed, and each vector of it serves all of them.
  static void RunFewEach(const PackedConv& conv, const float* x, const float* bias, float* y,
                         ThreadPool& pool) {
    const ConvShape& s = conv.shape_;
    const Field field = FieldOf(conv);
    const internal::Placement placement = PlacementOf(conv);
    const internal::Interior interior = internal::InteriorOf(field, placement);
    const std::vector<int64_t> offsets = TapOffsets(conv, field);
    const int64_t taps = Taps(s), outs = s.out_channels / s.groups, ins = s.in_channels / s.groups;
    const int64_t pixels = field.out_height * field.out_width;
    pool.For(s.batch * s.groups, 1, [&](int64_t begin, int64_t end) {
      const int64_t size = ins * field.plane() + internal::kFieldSlack;
      const Scratch planes(size);
      std::fill_n(planes.get(), size, 0.0f);
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t c = 0; c < ins; ++c) {
          internal::FillPlane(*conv.tiles_, field, placement, interior,
                              x + (i * ins + c) * s.in_height * s.in_width,
                              internal::Border::kCleared, planes.get() + c * field.plane());
        }
        for (int64_t o = 0; o < outs; o += internal::kMaxRowChannels) {
          const int64_t channels = std::min<int64_t>(internal::kMaxRowChannels, outs - o);
          const int64_t channel = i % s.groups * outs + o;
          conv.tiles_->row[channels - 1]({.x = planes.get(),
                                          .x_stride = field.Pixel(1, 0),
                                          .offsets = offsets.data(),
                                          .weights = conv.weights_.get() + channel * taps,
                                          .taps = taps,
                                          .bias = bias == nullptr ? nullptr : bias + channel,
                                          .y = y + (i * outs + o) * pixels,
                                          .y_stride = field.out_width,
                                          .y_channel_stride = pixels,
                                          .width = field.out_width,
                                          .rows = field.out_height});
        }
      }
    });
  }

  static void RunDirect(const PackedConv& conv, const float* x, const float* bias, float* y,
                        ThreadPool& pool) {
    const ConvShape& s = conv.shape_;
    const bool laid_out = !IsProduct(conv);
    const Field field = FieldOf(conv);
    const Scratch data = laid_out ? MakeField(conv, field, x, pool) : Scratch(0);
    std::vector<int64_t> offsets = TapOffsets(conv, field);
    offsets.resize(offsets.size() + internal::kTapsAhead, offsets.empty() ? 0 : offsets.back());
    const bool one_row = ReadsInPlace(s);
    const int64_t pixels = conv.out_height_ * conv.out_width_, outs = s.out_channels / s.groups;
    const int64_t taps = Taps(s);
    const int64_t packed = internal::PackedChannelsSize(*conv.tiles_, outs, taps);
    const internal::DirectConv shape{.tiles = conv.tiles_,
                                     .channels = outs,
                                     .taps = taps,
                                     .rows = one_row ? 1 : conv.out_height_,
                                     .width = one_row ? pixels : conv.out_width_,
                                     .row_step = field.Pixel(1, 0),
                                     .offsets = offsets.data(),
                                     .x = laid_out ? data.get() : x};
    const auto make = [&](int64_t i) {
      internal::DirectConv one = shape;
      const int64_t group = i % s.groups;
      one.weights = conv.weights_.get() + group * packed;
      one.x += i * (s.in_channels / s.groups) * field.plane();
      if (bias != nullptr) one.bias = bias + group * outs;
      one.y = y + i * outs * pixels;
      return one;
    };
    internal::RunDirect(s.batch * s.groups, shape, make, pool);
  }

  static void RunDense(const PackedConv& conv, const float* x, const float* bias, float* y,
                       ThreadPool& pool) {
    const ConvShape& s = conv.shape_;
    const Tiles& tiles = *conv.tiles_;
    const bool laid_out = !IsProduct(conv);
    const Field field = FieldOf(conv);
    const Scratch data = laid_out ? MakeField(conv, field, x, pool) : Scratch(0);
    const bool in_place = ReadsInPlace(s);
    std::vector<int64_t> offsets;
    if (!in_place) offsets = TapOffsets(conv, field);
    const int64_t pixels = conv.out_height_ * conv.out_width_, taps = Taps(s);
    const int64_t rows = s.out_channels / s.groups;
    const int64_t packed = internal::PackedRowsSize(tiles, rows, taps);
    const int64_t plane = in_place ? pixels : field.plane();
    const float* planes = laid_out ? data.get() : x;
    std::vector<ColumnPacker> packers;
    for (int64_t i = 0; i < s.batch * s.groups; ++i) {
      const float* input = planes + i * (s.in_channels / s.groups) * plane;
      packers.push_back([&, input](Range k, Range columns, float* out) {
        if (in_place) {
          internal::PackColumns(tiles, {input, taps, pixels, pixels, 1}, k, columns, out);
        } else {
          internal::PackPixels(tiles, field, input, offsets, k, columns, out);
        }
      });
    }
    const Product shape{
        .tiles = &tiles, .m = rows, .n = pixels, .k = taps, .c = y, .c_stride = pixels};
    const auto make = [&](int64_t i) {
      Product product = shape;
      const int64_t group = i % s.groups;
      product.packed_a = conv.weights_.get() + group * packed;
      if (in_place && rows <= kRowsInPlace) {
        product.direct_b = planes + i * (s.in_channels / s.groups) * pixels;
        product.b_stride = pixels;
      } else {
        product.pack_b = &packers[static_cast<size_t>(i)];
      }
      product.c = y + i * rows * pixels;
      if (bias != nullptr) product.bias.per_row = bias + group * rows;
      return product;
    };
    internal::RunProducts(s.batch * s.groups, shape, make, pool);
  }

  static void Run(const PackedConv& conv, const float* x, const float* bias, float* y,
                  ThreadPool& pool) {
    if (conv.phases_ != nullptr) return internal::RunPhases(conv, x, bias, y, pool);
    switch (conv.path_) {
      case PackedConv::Path::kDepthwise:
        return RunDepthwise(conv, x, bias, y, pool);
      case PackedConv::Path::kFewEach:
        return RunFewEach(conv, x, bias, y, pool);
      case PackedConv::Path::kDirect:
        return RunDirect(conv, x, bias, y, pool);
      case PackedConv::Path::kDense:
        return RunDense(conv, x, bias, y, pool);
    }
  }
};

PackedConv PackConv2d(const ConvShape& shape, const float* weights) {
  PackedConv conv = ConvDriver::Begin(shape);
  ConvDriver::SetWeights(conv, weights);
  return conv;
}

// A transposed one has phases, see conv_transpose.cc.
void Convolve(const PackedConv& conv, const float* x, const float* bias, float* y,
              ThreadPool& pool) {
  if (conv.out_height() <= 0 || conv.out_width() <= 0) return;
  ConvDriver::Run(conv, x, bias, y, pool);
}

void Conv2d(const ConvShape& shape, const float* x, const float* weights, const float* bias,
            float* y, ThreadPool& pool) {
  Convolve(PackConv2d(shape, weights), x, bias, y, pool);
}

}  // namespace octavo::reference
