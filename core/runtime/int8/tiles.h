// SPDX-License-Identifier: Apache-2.0
// The innermost int8 loops.  Each instruction set has its own table of functions; all give the same
// bits.  Activations are u8 and weights are s8 here; other storage is converted by flipping the top
// bit and shifting the zero point by 128.
#pragma once

#include <cstdint>

#include "core/runtime/int8/types.h"

namespace octavo::runtime::int8::internal {

inline constexpr int kMaxVectors = 4;  // vectors per panel, of 16 channels each
inline constexpr int kVector = 16;     // channels per vector

// Requantization without its spans.
struct RequantizeParams {
  Output output = Output::kU8;
  int32_t zero_point = 0;
  int32_t lowest = 0, highest = 255;
  // The result has the whole range of u8, and every multiplier lies within (-1, 1), so the product
  // of a sum and a multiplier fits int32.
  bool is_plain = false;
};

// ResidualAdd with the addend flipped to u8.
struct ResidualParams {
  float own_scale = 1, scale = 1, result_scale = 1;
  float inverse = 1;  // 1 / result_scale
  int32_t addend_zero = 0;
  uint8_t flip = 0;
  RequantizeParams result = {};
  // True if rne(fma(own, own_factor, fma(addend, addend_factor, offset))) is the result without
  // zero point for all 65,536 pairs of operands.
  bool uses_fma = false;
  float own_factor = 0, addend_factor = 0, offset = 0;
};

// Computes one panel:
//   out[r][c] = requantize(bias[c] + sum over K runs s and bytes i of rows[r][offsets[s] + i] *
//                          weight[s][i][c]
//                          - weight_zero[c] * row_sum[r])
struct TileCall {
  const uint8_t* const* rows = nullptr;  // [count]
  int64_t count = 0;
  const int64_t* offsets = nullptr;          // [k_runs], from a row's first byte
  const int32_t* k_block_offsets = nullptr;  // [k_runs * k_blocks], likewise
  int64_t k_runs = 0;
  int64_t k_blocks = 0;              // per K run
  const void* weights = nullptr;     // one panel
  const void* next_panel = nullptr;  // to prefetch: at least as large as this panel, or this panel
  // Bytes of next_panel to prefetch per row, and per K-block of a row.
  int64_t prefetch_row = 0, prefetch_rate = 0;
  const int32_t* bias = nullptr;  // padded to whole vectors, as are the next two
  const float* multipliers = nullptr;
  const int32_t* weight_zeros = nullptr;  // or null: all 0
  const int32_t* row_sums = nullptr;      // sum of x - zx; read if weight_zeros is set
  int64_t columns = 0;                    // channels to write, at most vectors * 16
  void* out = nullptr;
  int64_t out_stride = 0;  // in elements
  RequantizeParams requantize = {};
  // The residual's addend or null, with addend_stride elements between rows (0: one row for all).
  const uint8_t* addend = nullptr;
  int64_t addend_stride = 0;
  const ResidualParams* residual = nullptr;
};
using TileFunction = void (*)(const TileCall&);

// Computes one pixel of all channels:
//   out[c] = requantize(bias[c] + sum over t of (taps[t][c] ^ flip) * weight[t][c])
struct DepthwiseCall {
  const uint8_t* const* taps = nullptr;
  int64_t count = 0;  // number of taps
  int64_t channels = 0;
  uint8_t flip = 0;                  // of the taps' bytes
  const int16_t* weights = nullptr;  // [tap][channels]
  const int32_t* bias = nullptr;
  const float* multipliers = nullptr;
  void* out = nullptr;
  RequantizeParams requantize = {};
};
using DepthwiseFunction = void (*)(const DepthwiseCall&);

// Interleaves four rows of flipped activations: out[i] = byte i of each row.  There are `pieces` of
// `count` bytes.  Writes whole vectors of 64 words; reads no byte beyond a piece.
struct InterleaveCall {
  const uint8_t* rows[4] = {};
  int64_t steps[4] = {};  // between pieces of a row
  int64_t pieces = 1;
  int64_t count = 0;
  uint8_t flip = 0;
  uint32_t* out = nullptr;
  int64_t out_step = 0;  // between pieces
};

// Computes pixels of up to 64 channels from interleaved rows:
//   out[p][c] = requantize(bias[c] + sum over t of the four products of
//                          x[p * step + offsets[t] + c] and weight[t][c])
// May read `x` up to four pixels of 64 channels past the end.
struct InterleavedCall {
  const uint32_t* x = nullptr;
  int64_t step = 0;
  const int64_t* offsets = nullptr;  // [taps]
  int64_t taps = 0;
  const int8_t* weights = nullptr;  // [tap][channels, padded to whole vectors][4]
  const int32_t* bias = nullptr;    // padded to whole vectors, like multipliers
  const float* multipliers = nullptr;
  int64_t channels = 0;
  int64_t pixels = 0;
  void* out = nullptr;
  int64_t out_stride = 0;  // in elements
  RequantizeParams requantize = {};
};

struct Tiles {
  int vectors = 0;  // of a full panel
  // Weights of a panel of `width` channels, drawn in README.md.
  //   narrow: int8 [K run][K-block][width][4]
  //   wide: int16 [K run][K-block][bytes 0 and 2, bytes 1 and 3][width][2]
  bool wide = false;
  TileFunction tile[kMaxVectors] = {};  // [vectors - 1]
  DepthwiseFunction depthwise = nullptr;
  void (*interleave)(const InterleaveCall&) = nullptr;    // null, or for
  void (*interleaved)(const InterleavedCall&) = nullptr;  // depthwise convolutions

  // Null, or searches the FMA form of the residual of a result that `own` describes.
  void (*find_fma_form)(const RequantizeParams& own, ResidualParams& residual) = nullptr;

  // to[i] = from[i] ^ flip
  void (*copy_flipped)(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) = nullptr;

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
