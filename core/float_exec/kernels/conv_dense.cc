// SPDX-License-Identifier: Apache-2.0
// Convolutions with many channels: with vectors of channels, or as products with vectors of pixels.

#include "core/float_exec/kernels/conv_driver.h"
#include "core/float_exec/kernels/direct.h"

namespace octavo::float_exec {
namespace {

// With at most this many output channels, packing the input costs more than it saves; the product
// reads the input in place.
constexpr int64_t kRowsInPlace = 128;

}  // namespace

using internal::ColumnPacker;
using internal::Field;
using internal::Product;
using internal::Range;
using internal::Scratch;
using internal::Tiles;

void ConvDriver::RunDirect(const PackedConv& conv, const float* x, const float* bias, float* y,
                           ThreadPool& pool) {
  const ConvShape& s = conv.shape_;
  const bool laid_out = !IsProduct(conv);
  const Field field = FieldOf(conv);
  const Scratch data = laid_out ? MakeField(conv, field, x, pool) : Scratch(0);
  std::vector<int64_t> offsets = TapOffsets(conv, field);
  offsets.resize(offsets.size() + internal::kPrefetchTaps, offsets.empty() ? 0 : offsets.back());
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

bool ConvDriver::IsStrided(const PackedConv& conv) {
  const ConvShape& s = conv.shape_;
  return ReadsInPlace(s) && s.stride_width == 2 && s.pad_top == 0 && s.pad_left == 0 &&
         (conv.out_height_ - 1) * s.stride_height < s.in_height &&
         (conv.out_width_ - 1) * 2 < s.in_width;
}

Product ConvDriver::ProductOf(const PackedConv& conv, const Product& shape, int64_t i,
                              const float* bias) {
  Product product = shape;
  const int64_t group = i % conv.shape_.groups;
  product.packed_a =
      conv.weights_.get() + group * internal::PackedRowsSize(*shape.tiles, shape.m, shape.k);
  product.c += i * shape.m * shape.n;
  if (bias != nullptr) product.bias.per_row = bias + group * shape.m;
  return product;
}

void ConvDriver::RunStrided(const PackedConv& conv, const float* x, const float* bias, float* y,
                            ThreadPool& pool) {
  const ConvShape& s = conv.shape_;
  const Tiles& tiles = *conv.tiles_;
  const int64_t pixels = conv.out_height_ * conv.out_width_, rows = s.out_channels / s.groups;
  const int64_t taps = Taps(s), plane = s.in_height * s.in_width;
  std::vector<ColumnPacker> packers;
  for (int64_t i = 0; i < s.batch * s.groups; ++i) {
    packers.push_back([&, i](Range k, Range columns, float* out) {
      internal::PackStrided(tiles, s, conv.out_width_, x + i * taps * plane, k, columns, out);
    });
  }
  std::vector<int64_t> panels;
  for (int64_t n = 0; n < pixels; n += tiles.panel()) {
    panels.push_back(n / conv.out_width_ * s.stride_height * s.in_width + n % conv.out_width_ * 2);
  }
  const Product shape{
      .tiles = &tiles, .m = rows, .n = pixels, .k = taps, .c = y, .c_stride = pixels};
  const auto make = [&](int64_t i) {
    Product product = ProductOf(conv, shape, i, bias);
    product.pack_b = &packers[static_cast<size_t>(i)];
    product.source = {x + i * taps * plane, plane, panels};
    return product;
  };
  internal::RunProducts(s.batch * s.groups, shape, make, pool);
}

void ConvDriver::RunDense(const PackedConv& conv, const float* x, const float* bias, float* y,
                          ThreadPool& pool) {
  if (IsStrided(conv)) return RunStrided(conv, x, bias, y, pool);
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
    Product product = ProductOf(conv, shape, i, bias);
    if (in_place && rows <= kRowsInPlace) {
      product.direct_b = planes + i * (s.in_channels / s.groups) * pixels;
      product.b_stride = pixels;
    } else {
      product.pack_b = &packers[static_cast<size_t>(i)];
    }
    return product;
  };
  internal::RunProducts(s.batch * s.groups, shape, make, pool);
}

}  // namespace octavo::float_exec
