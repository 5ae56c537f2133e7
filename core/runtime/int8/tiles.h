// The innermost int8 loops, one table of functions per instruction set; all give the same bits.
// Activations are u8 here and weights s8: other storage is brought to that by flipping the top
// bit and shifting the zero point by 128.
#pragma once

#include <cstdint>

#include "core/runtime/int8/types.h"

namespace octavo::runtime::int8::internal {

inline constexpr int kMaxRows = 6;     // of a tile
inline constexpr int kMaxVectors = 4;  // of 16 channels in a tile
inline constexpr int kVector = 16;     // channels
inline constexpr int kBlock = 64;      // channels of a depthwise block

// Finish without its spans, as the loops want it.
struct Ending {
  Output output = Output::kU8;
  int32_t zero_point = 0;
  int32_t lowest = 0, highest = 255;
};

// out[r][c] = ending(bias[c] + sum over segments s and i of row[s][r][i] * weight[s][i][c]
//                    - weight_zero[c] * row_sum[r])
struct TileCall {
  const uint8_t* const* rows = nullptr;  // [segments][tiles.rows]
  int64_t segments = 0;
  int64_t quads = 0;              // bytes of a segment / 4
  const void* weights = nullptr;  // one panel
  const int32_t* bias = nullptr;  // padded to whole vectors, as are the next two
  const float* multipliers = nullptr;
  const int32_t* weight_zeros = nullptr;  // or null: all 0
  const int32_t* row_sums = nullptr;      // sum of x - zx; read if weight_zeros is set
  int64_t columns = 0;                    // channels to write, at most vectors * 16
  void* out = nullptr;
  int64_t out_stride = 0;  // elements
  Ending ending = {};
};
using TileFunction = void (*)(const TileCall&);

// One pixel of all channels: out[c] = ending(bias[c] + sum over t of taps[t][c] * weight[t][c]).
struct DepthwiseCall {
  const uint8_t* const* taps = nullptr;  // [4 * groups]
  int64_t groups = 0;                    // of 4 taps; taps beyond the kernel have weight 0
  int64_t channels = 0;
  const void* weights = nullptr;
  const int32_t* bias = nullptr;
  const float* multipliers = nullptr;
  void* out = nullptr;
  Ending ending = {};
};
using DepthwiseFunction = void (*)(const DepthwiseCall&);

struct Tiles {
  int rows = 0;
  int vectors = 0;  // of a full panel
  // Weights of a panel of `width` channels.  Narrow: int8 [segment][quad][width][4].
  // Wide: int16 [segment][quad][bytes 0 and 2, bytes 1 and 3][width][2].
  bool wide = false;
  TileFunction tile[kMaxRows][kMaxVectors] = {};  // [rows - 1][vectors - 1]
  // Weights int16 [tap][channels].
  DepthwiseFunction depthwise = nullptr;
  // Null, or for weights int8 [block of 64 channels][group][j][lane][4 channels][4 taps], where
  // channel = 16 * lane + 4 * j + i; bias and multipliers are in the order [block][j][lane][i].
  DepthwiseFunction depthwise_interleaved = nullptr;

  int panel() const { return vectors * kVector; }
};

extern const Tiles kPortableTiles;
#if defined(__x86_64__)
extern const Tiles kAvx2Tiles;
extern const Tiles kVnniTiles;
#endif

// The tiles for CurrentIsa().
const Tiles& CurrentTiles();

}  // namespace octavo::runtime::int8::internal
