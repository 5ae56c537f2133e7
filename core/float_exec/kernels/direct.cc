// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kernels/direct.h"

#include <algorithm>
#include <vector>

#include "core/float_exec/kernels/gemm.h"

namespace octavo::float_exec::internal {
namespace {

// Pixels that share each part of the weights while it is in the L1 cache; twice as many if the
// weights come from a farther cache or from memory.
constexpr int64_t kBlockPixels = 112;
constexpr int64_t kManyWeights = 1 << 17;

// One call of Tiles::pixel within a block.
struct Part {
  int64_t x = 0;      // offset of its first pixel
  int64_t first = 0;  // pixel of the block
  int64_t pixels = 0;
};

// Splits a row into parts of nearly equal size.
int64_t PartPixels(const Tiles& tiles, int64_t width) {
  const int64_t parts = CeilDiv(width, tiles.pixels);
  return CeilDiv(width, parts);
}

// A block consists of whole rows or is a piece of one long row.
int64_t BlockPixels(const DirectConv& conv, int64_t wanted) {
  if (conv.width <= wanted) return wanted / conv.width * conv.width;
  const int64_t part = PartPixels(*conv.tiles, conv.width);
  return std::max<int64_t>(1, wanted / part) * part;
}

// Finds the parts of the pixels [block.begin, block.end).  No part crosses the end of a row.
void FindParts(const DirectConv& conv, Range block, std::vector<Part>& parts) {
  parts.clear();
  const int64_t most = PartPixels(*conv.tiles, conv.width);
  int64_t column = block.begin % conv.width;
  int64_t x = block.begin / conv.width * conv.row_step + column;
  for (int64_t n = block.begin; n < block.end;) {
    const int64_t pixels = std::min({most, conv.width - column, block.end - n});
    parts.push_back({x, n - block.begin, pixels});
    n += pixels, column += pixels, x += pixels;
    if (column == conv.width) column = 0, x += conv.row_step - conv.width;
  }
}

// Computes panels [panels) of the channels for one block of pixels.
void RunBlock(const DirectConv& conv, Range block, Range panels, std::vector<Part>& parts) {
  const Tiles& tiles = *conv.tiles;
  const int64_t panel_width = kMaxPixelVectors * tiles.lanes;
  const int64_t pixels = conv.rows * conv.width, depth = DepthOf(conv.taps);
  FindParts(conv, block, parts);
  const Scratch sums(RoundUp(block.size(), tiles.lanes) * panel_width);
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    const int64_t channel = panel * panel_width;
    const int64_t channels = std::min(panel_width, conv.channels - channel);
    const int64_t vectors = CeilDiv(channels, tiles.lanes), width = vectors * tiles.lanes;
    const float* weights = conv.weights + channel * conv.taps;
    for (int64_t tap = 0; tap < conv.taps; tap += depth) {
      PixelCall call{.offsets = conv.offsets + tap,
                     .weights = weights + tap * width,
                     .taps = std::min(depth, conv.taps - tap),
                     .accumulate = tap > 0};
      for (const Part& part : parts) {
        call.x = conv.x + part.x;
        call.sums = sums.get() + part.first * width;
        if (tap + depth >= conv.taps) {
          // Prefetch the results, which are written at the end.
          call.prefetch = conv.y + channel * pixels + block.begin + part.first;
          call.prefetch_stride = pixels;
          call.prefetch_lines = channels;
        }
        tiles.pixel[part.pixels - 1][vectors - 1](call);
      }
    }
    tiles.transpose({.sums = sums.get(),
                     .sums_stride = width,
                     .pixels = block.size(),
                     .channels = channels,
                     .bias = conv.bias == nullptr ? nullptr : conv.bias + channel,
                     .y = conv.y + channel * pixels + block.begin,
                     .y_stride = pixels});
  }
}

struct Cut {
  int64_t pixels = 0, panels = 0;  // per block
  int64_t pixel_blocks = 0, panel_blocks = 0;
};

// Splits along the pixels, then along the channels, until there are a few blocks per thread.
Cut CutConv(int64_t count, const DirectConv& conv, int threads) {
  const int64_t wanted = threads == 1 ? 1 : CeilDiv(3 * threads, count);
  const int64_t all = conv.rows * conv.width;
  const int64_t panels = CeilDiv(conv.channels, kMaxPixelVectors * conv.tiles->lanes);
  Cut cut;
  const bool afar = conv.channels * conv.taps > kManyWeights;
  cut.pixels = BlockPixels(conv, afar ? 2 * kBlockPixels : kBlockPixels);
  cut.pixel_blocks = CeilDiv(all, cut.pixels);
  const int64_t panel_cuts = std::clamp<int64_t>(wanted / cut.pixel_blocks, 1, panels);
  cut.panels = CeilDiv(panels, panel_cuts);
  cut.panel_blocks = CeilDiv(panels, cut.panels);
  return cut;
}

}  // namespace

int64_t PackedChannelsSize(const Tiles& tiles, int64_t channels, int64_t taps) {
  return RoundUp(channels, tiles.lanes) * taps;
}

void PackChannels(const Tiles& tiles, const float* weights, int64_t channels, int64_t taps,
                  float* out) {
  const int64_t panel = kMaxPixelVectors * tiles.lanes;
  for (int64_t first = 0; first < channels; first += panel) {
    const int64_t valid = std::min(panel, channels - first), width = RoundUp(valid, tiles.lanes);
    for (int64_t t = 0; t < taps; ++t, out += width) {
      for (int64_t c = 0; c < valid; ++c) out[c] = weights[(first + c) * taps + t];
      std::fill(out + valid, out + width, 0.0f);
    }
  }
}

void RunDirect(int64_t count, const DirectConv& shape,
               const std::function<DirectConv(int64_t)>& make, ThreadPool& pool) {
  const Cut cut = CutConv(count, shape, pool.threads());
  const int64_t blocks = cut.pixel_blocks * cut.panel_blocks, pixels = shape.rows * shape.width;
  const int64_t panels = CeilDiv(shape.channels, kMaxPixelVectors * shape.tiles->lanes);
  pool.For(count * blocks, 1, [&](int64_t begin, int64_t end) {
    std::vector<Part> parts;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task % blocks;
      const int64_t pixel = block % cut.pixel_blocks * cut.pixels;
      const int64_t panel = block / cut.pixel_blocks * cut.panels;
      RunBlock(make(task / blocks), {pixel, std::min(pixel + cut.pixels, pixels)},
               {panel, std::min(panel + cut.panels, panels)}, parts);
    }
  });
}

}  // namespace octavo::float_exec::internal
