// SPDX-License-Identifier: Apache-2.0
// The int8 tiles in plain C++ for any processor, including SSE4 machines.
#include "core/runtime/int8/tiles_body.h"

namespace octavo::runtime::int8::internal {
namespace {

template <int kRows>
void Tile(const TileCall& call, int64_t row) {
  // Unsigned: partial sums of operands shifted by 128 may wrap, but the result does not.
  uint32_t acc[kRows][kVector];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVector; ++c) acc[r][c] = static_cast<uint32_t>(call.bias[c]);
  }
  const int8_t* weights = static_cast<const int8_t*>(call.weights);
  for (int64_t s = 0; s < call.k_runs; ++s) {
    for (int64_t q = 0; q < call.k_blocks; ++q, weights += 4 * kVector) {
      for (int r = 0; r < kRows; ++r) {
        const uint8_t* x = call.rows[row + r] + call.offsets[s] + 4 * q;
        for (int c = 0; c < kVector; ++c) {
          const int8_t* w = weights + 4 * c;
          acc[r][c] += static_cast<uint32_t>(x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]);
        }
      }
    }
  }
  StoreTileRows(call, row, reinterpret_cast<int32_t*>(acc), kVector, kRows);
}

void Panel(const TileCall& call) {
  ForTiles<4>(call, 0, []<int kRows>(const TileCall& c, int64_t row) { Tile<kRows>(c, row); });
}

}  // namespace

const Tiles kPortableTiles = {
    .vectors = 1,
    .wide = false,
    .tile = {&Panel},
    .depthwise = &Depthwise,
    .copy_flipped = &CopyFlipped,
};

}  // namespace octavo::runtime::int8::internal
