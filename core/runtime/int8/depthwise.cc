// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/depthwise.h"

#include <algorithm>

namespace octavo::runtime::int8::internal {
namespace {

using float_exec::ConvShape;

constexpr int64_t kBlock = 64;                  // channels computed together
constexpr int64_t kFlatChannels = 256;          // maximum for interleaving whole pixels
constexpr int64_t kColumnBytes = 20 << 10;      // interleaved bytes per task's piece
constexpr int64_t kGrainOperations = 64 << 10;  // grain size: minimum multiply-adds per task

int64_t DivideUp(int64_t x, int64_t by) { return (x + by - 1) / by; }
int64_t RoundUp(int64_t x, int64_t step) { return DivideUp(x, step) * step; }

struct Filters {
  int64_t channels = 0, taps = 0;
  std::vector<int16_t> weights;  // [channel][tap], zero points subtracted
  int16_t At(int64_t channel, int64_t tap) const { return weights[channel * taps + tap]; }
};

Filters ReadFilters(const Weights& weights, int64_t channels, int64_t taps) {
  Filters filters{channels, taps, std::vector<int16_t>(static_cast<size_t>(channels * taps))};
  const auto* data = static_cast<const uint8_t*>(weights.data);
  for (int64_t i = 0; i < channels * taps; ++i) {
    const int32_t code = weights.storage == Storage::kS8 ? static_cast<int8_t>(data[i]) : data[i];
    filters.weights[i] =
        static_cast<int16_t>(code - ChannelValue(weights.zero_points, i / taps, 0));
  }
  return filters;
}

bool FitsInt8(const Filters& filters) {
  return std::ranges::all_of(filters.weights, [](int16_t w) { return w >= -128 && w <= 127; });
}

// Bytes of the filters for one output row of a strip.
int64_t RowBytes(const DepthwiseWeights& w) {
  return RoundUp(w.shape.in_channels, kVector) * w.row_groups * w.shape.kernel_width * 4;
}

void PackInterleaved(const Filters& filters, DepthwiseWeights& w) {
  const ConvShape& s = w.shape;
  w.row_groups = DivideUp(s.kernel_height, 4);
  w.strip_rows =
      s.dilation_height == 1 ? (4 * w.row_groups - s.kernel_height) / s.stride_height + 1 : 1;
  const int64_t taps = w.row_groups * s.kernel_width;
  w.interleaved.assign(static_cast<size_t>(w.strip_rows * RowBytes(w)), 0);
  for (int64_t row = 0; row < w.strip_rows; ++row) {
    for (int64_t c = 0; c < filters.channels; ++c) {
      const int64_t block = c / kBlock * kBlock;
      const int64_t width = std::min(kBlock, RoundUp(filters.channels - block, kVector));
      int8_t* out = w.interleaved.data() + row * RowBytes(w) + block * taps * 4 + (c - block) * 4;
      for (int64_t i = 0; i < s.kernel_height; ++i) {
        const int64_t at = row * s.stride_height + i;  // in the strip
        for (int64_t j = 0; j < s.kernel_width; ++j) {
          out[(at / 4 * s.kernel_width + j) * width * 4 + at % 4] =
              static_cast<int8_t>(filters.At(c, i * s.kernel_width + j));
        }
      }
    }
  }
}

void PackWide(const Filters& filters, DepthwiseWeights& w) {
  w.wide.resize(filters.weights.size());
  for (int64_t c = 0; c < filters.channels; ++c) {
    for (int64_t t = 0; t < filters.taps; ++t) w.wide[t * filters.channels + c] = filters.At(c, t);
  }
}

// A part of the output: rows of a strip, columns, and channels.
struct Part {
  int64_t row = 0, rows = 0;
  int64_t column = 0, columns = 0;
  int64_t channel = 0, channels = 0;
};

// The interleaved pixels under a part.
struct Columns {
  int64_t first = 0, count = 0;  // columns of the image; may lie in the padding
  int64_t pitch = 0;             // words per column
  int64_t row_group_pitch = 0;   // words between row groups
  LineVector<uint32_t>* words = nullptr;
};

// Pointers to the four image rows of a group; rows in the padding repeat the zero point.
struct RowGroup {
  const uint8_t* rows[4] = {};
  bool inside[4] = {};

  RowGroup(const DepthwiseWeights& w, const uint8_t* image, int64_t top, int64_t row_group) {
    const ConvShape& s = w.shape;
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t row = top + (4 * row_group + i) * s.dilation_height;
      inside[i] = row >= 0 && row < s.in_height;
      rows[i] = inside[i] ? image + row * s.in_width * s.in_channels : w.padding.data();
    }
  }
  // Interleaves the rows from byte `byte` on, in pieces with stride `step`.
  InterleaveCall At(int64_t byte, int64_t step) const {
    InterleaveCall call;
    for (int i = 0; i < 4; ++i) {
      call.rows[i] = rows[i] + (inside[i] ? byte : 0);
      call.steps[i] = inside[i] ? step : 0;
    }
    return call;
  }
};

void InterleaveColumns(const DepthwiseWeights& w, const uint8_t* image, const Part& part,
                       const Columns& columns) {
  const ConvShape& s = w.shape;
  const int64_t top = part.row * s.stride_height - s.pad_top;
  const uint32_t zero = static_cast<uint8_t>(w.padding[0] ^ w.flip) * 0x01010101u;
  const int64_t begin = std::clamp<int64_t>(-columns.first, 0, columns.count);
  const int64_t end = std::clamp<int64_t>(s.in_width - columns.first, begin, columns.count);
  const bool flat = columns.pitch == s.in_channels;
  for (int64_t row_group = 0; row_group < w.row_groups; ++row_group) {
    uint32_t* words = columns.words->data() + row_group * columns.row_group_pitch;
    std::fill(words, words + begin * columns.pitch, zero);
    const RowGroup rows(w, image, top, row_group);
    if (begin < end) {
      InterleaveCall call =
          rows.At((columns.first + begin) * s.in_channels + part.channel, s.in_channels);
      call.pieces = flat ? 1 : end - begin;
      call.count = flat ? (end - begin) * s.in_channels : part.channels;
      call.flip = w.flip;
      call.out = words + begin * columns.pitch;
      call.out_step = columns.pitch;
      w.tiles->interleave(call);
    }
    std::fill(words + end * columns.pitch, words + columns.count * columns.pitch, zero);
  }
}

void ComputePart(const DepthwiseWeights& w, const Part& part, const Columns& columns,
                 uint8_t* output) {
  const ConvShape& s = w.shape;
  const int64_t taps = w.row_groups * s.kernel_width, out_width = float_exec::ConvOutWidth(s);
  thread_local std::vector<int64_t> offsets;
  offsets.clear();
  for (int64_t t = 0; t < taps; ++t) {
    offsets.push_back(t / s.kernel_width * columns.row_group_pitch +
                      t % s.kernel_width * s.dilation_width * columns.pitch);
  }
  for (int64_t c = 0; c < part.channels; c += kBlock) {
    const int64_t channel = part.channel + c;
    for (int64_t row = 0; row < part.rows; ++row) {
      const int64_t pixel = (part.row + row) * out_width + part.column;
      w.tiles->interleaved(
          {.x = columns.words->data() + c,
           .step = s.stride_width * columns.pitch,
           .offsets = offsets.data(),
           .taps = taps,
           .weights = w.interleaved.data() + row * RowBytes(w) + channel * taps * 4,
           .bias = w.bias.data() + channel,
           .multipliers = w.multipliers.data() + channel,
           .channels = std::min(kBlock, part.channels - c),
           .pixels = part.columns,
           .out = output + (pixel * s.out_channels + channel) * OutputSize(w.requantize.output),
           .out_stride = s.out_channels,
           .requantize = w.requantize});
    }
  }
}

// Computes the rows of one strip for the channels of a part, some columns at a time.
void RunStrip(const DepthwiseWeights& w, const uint8_t* image, Part part, uint8_t* output) {
  static thread_local LineVector<uint32_t> words;
  const ConvShape& s = w.shape;
  const int64_t out_width = float_exec::ConvOutWidth(s);
  const bool flat = part.channels == s.in_channels;
  const int64_t pitch = flat ? s.in_channels : RoundUp(part.channels, kVector);
  const int64_t most = std::max<int64_t>(
      4, kColumnBytes / (pitch * 4 * w.row_groups * std::min(s.stride_width, s.kernel_width)));
  const int64_t pieces = DivideUp(out_width, most), step = DivideUp(out_width, pieces);
  for (part.column = 0; part.column < out_width; part.column += step) {
    part.columns = std::min(step, out_width - part.column);
    const int64_t count =
        (part.columns - 1) * s.stride_width + (s.kernel_width - 1) * s.dilation_width + 1;
    const int64_t row_group_pitch = RoundUp(count * pitch, kVector) + kBlock;
    // The loops read up to four pixels and a block of channels past the end.
    const int64_t slack = 4 * (s.stride_width * pitch + kBlock);
    const auto size = static_cast<size_t>(w.row_groups * row_group_pitch + slack);
    if (words.size() < size) words.resize(size);
    const Columns columns{.first = part.column * s.stride_width - s.pad_left,
                          .count = count,
                          .pitch = pitch,
                          .row_group_pitch = row_group_pitch,
                          .words = &words};
    InterleaveColumns(w, image, part, columns);
    ComputePart(w, part, columns, output);
  }
}

void ApplyLookup(const DepthwiseWeights& w, const Part& part, const LookupTable& lookup,
                 uint8_t* output) {
  const ConvShape& s = w.shape;
  const int64_t width = float_exec::ConvOutWidth(s);
  uint8_t* bytes = output + part.row * width * s.out_channels + part.channel;
  if (part.channels == s.out_channels)
    return lookup.Apply(bytes, part.rows * width * part.channels);
  for (int64_t pixel = 0; pixel < part.rows * width; ++pixel) {
    lookup.Apply(bytes + pixel * s.out_channels, part.channels);
  }
}

void RunInterleaved(const DepthwiseWeights& w, const uint8_t* image, const LookupTable* lookup,
                    uint8_t* output, ThreadPool& pool) {
  const ConvShape& s = w.shape;
  const int64_t height = float_exec::ConvOutHeight(s), strips = DivideUp(height, w.strip_rows);
  const int64_t block = s.in_channels <= kFlatChannels ? s.in_channels : kBlock;
  const int64_t blocks = DivideUp(s.in_channels, block);
  const int64_t work =
      w.strip_rows * float_exec::ConvOutWidth(s) * block * 4 * w.row_groups * s.kernel_width;
  pool.For(strips * blocks, DivideUp(kGrainOperations, work), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / blocks * w.strip_rows, channel = task % blocks * block;
      const Part part{.row = row,
                      .rows = std::min(w.strip_rows, height - row),
                      .channel = channel,
                      .channels = std::min(block, s.in_channels - channel)};
      RunStrip(w, image, part, output);
      if (lookup != nullptr) ApplyLookup(w, part, *lookup, output);
    }
  });
}

// Sets pointers to the pixels under the taps of an output pixel.
void FindTaps(const DepthwiseWeights& w, const uint8_t* image, int64_t row, int64_t column,
              const uint8_t** pixels) {
  const ConvShape& s = w.shape;
  const int64_t top = row * s.stride_height - s.pad_top;
  const int64_t left = column * s.stride_width - s.pad_left;
  for (int64_t i = 0; i < s.kernel_height; ++i) {
    const int64_t y = top + i * s.dilation_height;
    const uint8_t* from = image + y * s.in_width * s.in_channels;
    for (int64_t j = 0; j < s.kernel_width; ++j) {
      const int64_t x = left + j * s.dilation_width;
      const bool inside = y >= 0 && y < s.in_height && x >= 0 && x < s.in_width;
      *pixels++ = inside ? from + x * s.in_channels : w.padding.data();
    }
  }
}

// Computes one pixel at a time.
void RunWide(const DepthwiseWeights& w, const uint8_t* image, const LookupTable* lookup,
             uint8_t* output, ThreadPool& pool) {
  const ConvShape& s = w.shape;
  const int64_t width = float_exec::ConvOutWidth(s), taps = s.kernel_height * s.kernel_width;
  const int64_t pixel_bytes = s.out_channels * OutputSize(w.requantize.output);
  const int64_t grain = DivideUp(kGrainOperations, width * taps * s.out_channels);
  pool.For(float_exec::ConvOutHeight(s), grain, [&](int64_t begin, int64_t end) {
    std::vector<const uint8_t*> pixels(static_cast<size_t>(taps));
    for (int64_t index = begin * width; index < end * width; ++index) {
      FindTaps(w, image, index / width, index % width, pixels.data());
      w.tiles->depthwise({.taps = pixels.data(),
                          .count = taps,
                          .channels = s.out_channels,
                          .flip = w.flip,
                          .weights = w.wide.data(),
                          .bias = w.bias.data(),
                          .multipliers = w.multipliers.data(),
                          .out = output + index * pixel_bytes,
                          .requantize = w.requantize});
    }
    if (lookup != nullptr) {
      lookup->Apply(output + begin * width * pixel_bytes, (end - begin) * width * pixel_bytes);
    }
  });
}

}  // namespace

DepthwiseWeights PackDepthwise(const ConvShape& shape, const Weights& weights,
                               std::span<const int32_t> bias, const Activation& input,
                               const Requantization& requantization) {
  const int64_t channels = shape.in_channels, taps = shape.kernel_height * shape.kernel_width;
  const Filters filters = ReadFilters(weights, channels, taps);
  const auto padded = static_cast<size_t>(RoundUp(channels, kVector));
  DepthwiseWeights out{.tiles = &CurrentTiles(),
                       .shape = shape,
                       .flip = FlipOf(input.storage),
                       .bias = LineVector<int32_t>(padded, 0),
                       .multipliers = LineVector<float>(padded, 0)};
  out.padding.assign(static_cast<size_t>(channels * shape.in_width),
                     static_cast<uint8_t>(input.zero_point));
  for (int64_t c = 0; c < channels; ++c) {
    int64_t sum = 0;
    for (int64_t t = 0; t < taps; ++t) sum += filters.At(c, t);
    // Modulo 2^32, as in PackDense.
    out.bias[c] =
        static_cast<int32_t>(static_cast<uint32_t>(ChannelValue(bias, c, 0)) -
                             static_cast<uint32_t>(ZeroAsU8(input)) * static_cast<uint32_t>(sum));
    out.multipliers[c] = ChannelValue(requantization.multipliers, c, 1.0f);
  }
  out.requantize = ParamsOf(requantization, out.multipliers);
  out.tiles->interleaved != nullptr&& FitsInt8(filters) ? PackInterleaved(filters, out)
                                                        : PackWide(filters, out);
  return out;
}

void RunDepthwise(const DepthwiseWeights& weights, const uint8_t* image, const LookupTable* lookup,
                  uint8_t* output, ThreadPool& pool) {
  weights.wide.empty() ? RunInterleaved(weights, image, lookup, output, pool)
                       : RunWide(weights, image, lookup, output, pool);
}

}  // namespace octavo::runtime::int8::internal
