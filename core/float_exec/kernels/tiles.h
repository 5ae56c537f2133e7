// SPDX-License-Identifier: Apache-2.0
// The innermost loops of the float kernels.  Each instruction set has its own table of functions.
// Each output element is one chain of fused multiply-adds and vectors run across outputs, so all
// tables give the same bits.
#pragma once

#include <cstdint>

namespace octavo::float_exec::internal {

// c[r][v] (+)= sum over k ascending of a[k][r] * b[k][v], for a tile of c.
struct TileCall {
  const float* a = nullptr;  // packed panel [k][tiles.rows], or rows in place
  int64_t a_stride = 0;      // in place: distance between rows
  const float* b = nullptr;  // [k][b_stride]; reads vectors * lanes columns
  int64_t b_stride = 0;
  const float* prefetch = nullptr;  // prefetched: one cache line per k
  int64_t prefetch_stride = 0;
  int64_t k = 0;
  float* c = nullptr;  // [rows][c_stride]; writes vectors * lanes columns
  int64_t c_stride = 0;
  bool accumulate = false;          // true: continue the chain in c; false: start at +0
  const float* row_bias = nullptr;  // null or added to the rows at the end
};
using TileFunction = void (*)(const TileCall&);

// sums[p][v] (+)= chain over t ascending of x[offsets[t] + p] * weights[t][v], for adjacent pixels
// p and for channels v that fill whole vectors.
struct PixelCall {
  const float* x = nullptr;
  const int64_t* offsets = nullptr;  // taps + kPrefetchTaps elements
  const float* weights = nullptr;
  int64_t taps = 0;
  const float* prefetch = nullptr;  // prefetched: `prefetch_lines` cache lines, one per tap
  int64_t prefetch_stride = 0, prefetch_lines = 0;
  float* sums = nullptr;
  bool accumulate = false;  // true: continue the chains in sums; false: start at +0
};
inline constexpr int kPrefetchTaps = 8;  // prefetch distance of x, in taps
using PixelFunction = void (*)(const PixelCall&);

// y[v][p] = sums[p][v] + bias[v] for p < pixels and v < channels.  A null bias adds nothing.  Reads
// `sums` for whole vectors of pixels and channels.
struct TransposeCall {
  const float* sums = nullptr;
  int64_t sums_stride = 0;
  int64_t pixels = 0, channels = 0;
  const float* bias = nullptr;
  float* y = nullptr;
  int64_t y_stride = 0;
};
using TransposeFunction = void (*)(const TransposeCall&);

// For each of `rows` rows r and for some channels c: y[c][r][i] = bias[c] + chain over t ascending
// of weights[c][t] * x[r][offsets[t] + i] for i < width.  A null bias adds nothing.  Reads up to
// one vector beyond the elements that it needs.
struct RowCall {
  const float* x = nullptr;
  int64_t x_stride = 0;
  const int64_t* offsets = nullptr;
  const float* weights = nullptr;  // [channels][taps]
  int64_t taps = 0;
  // The distance between rows of taps, for a square kernel on one plane; else 0.
  int64_t pitch = 0;
  const float* bias = nullptr;
  float* y = nullptr;
  int64_t y_stride = 0;
  int64_t y_channel_stride = 0;
  int64_t width = 0;
  int64_t rows = 1;
};
using RowFunction = void (*)(const RowCall&);
inline constexpr int kMaxRowChannels = 4;

// A depthwise convolution of planes with rows of at most two vectors, see narrow.h.  First, each
// row of a plane is expanded to one vector per kernel column, at expanded + column * column_stride
// + row * lanes.  Its lane i is the float at columns[column * lanes + i] of the row, or 0 if that
// index is negative.  With `pairs`, two planes share each vector, a half each, and column indices
// of the second plane start at `lanes`.
struct NarrowCall {
  struct Phase {  // rows are x_stride apart
    int64_t x = 0, expanded = 0, rows = 0;
  };
  const float* x = nullptr;
  int64_t x_plane = 0, x_stride = 0, x_width = 0;
  const int32_t* columns = nullptr;
  int64_t kernel_width = 0, column_stride = 0;
  const Phase* phases = nullptr;
  int64_t phase_count = 0;
  float* expanded = nullptr;
  // Row r of tap t is the vector at expanded + offsets[t] + r * lanes.
  const int64_t* offsets = nullptr;
  const float* weights = nullptr;  // [channels][taps]
  int64_t taps = 0, channels = 0;
  const float* bias = nullptr;
  float* y = nullptr;
  int64_t y_height = 0, y_width = 0;
  bool pairs = false;
  int64_t begin = 0, end = 0;  // the planes to compute, over all images
};
using NarrowFunction = void (*)(const NarrowCall&);

// Copies rows of `count` elements to `to`; or their even elements to `even` and their odd elements
// to `odd`, either of which may be null.
struct CopyCall {
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t count = 0;
  float* to = nullptr;
  float* even = nullptr;
  float* odd = nullptr;
  int64_t to_stride = 0;
  int64_t rows = 0;
};
using CopyFunction = void (*)(const CopyCall&);

// Writes one row of a panel per tap, for `k` taps: the row's runs of adjacent floats, then zeros.
// It copies whole vectors, so a copy may overwrite the start of the next run and may read up to one
// vector too far.
struct GatherCall {
  struct Run {
    int64_t to = 0, from = 0, length = 0;
  };
  const float* x = nullptr;
  const int64_t* offsets = nullptr;  // of the taps, relative to x
  int64_t k = 0;
  const Run* runs = nullptr;
  int64_t run_count = 0;
  float* out = nullptr;
  int64_t valid = 0, width = 0;  // per row: floats in runs, and all floats
};
using GatherFunction = void (*)(const GatherCall&);

inline constexpr int kMaxTileRows = 8;
inline constexpr int kMaxTileVectors = 3;
inline constexpr int kMaxPixels = 14;
inline constexpr int kMaxPixelVectors = 2;

struct Tiles {
  int rows = 0;                                            // of a full tile
  int lanes = 0;                                           // floats per vector
  TileFunction tile[kMaxTileRows][kMaxTileVectors] = {};   // [rows - 1][vectors - 1]
  int pixels = 0;                                          // of a full call of `pixel`
  PixelFunction pixel[kMaxPixels][kMaxPixelVectors] = {};  // [pixels - 1][vectors - 1]
  TransposeFunction transpose = nullptr;
  TileFunction tile_in_place[kMaxTileRows][kMaxTileVectors] = {};
  RowFunction row[kMaxRowChannels] = {};  // [channels - 1]
  NarrowFunction narrow = nullptr;        // may be null
  CopyFunction copy = nullptr, split = nullptr;
  GatherFunction gather = nullptr;

  int panel() const { return lanes * kMaxTileVectors; }
};

namespace portable {
extern const Tiles kTiles;
}
namespace avx2 {
extern const Tiles kTiles;
}
namespace avx512 {
extern const Tiles kTiles;
}

}  // namespace octavo::float_exec::internal
