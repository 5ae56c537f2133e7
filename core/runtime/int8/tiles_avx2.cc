// SPDX-License-Identifier: Apache-2.0
// The int8 tiles for AVX2.  Packing widens the weights, because vpmaddubsw saturates: two exact
// vpmaddwd multiply the even and the odd bytes of the activations.
#if defined(__x86_64__)
#include <immintrin.h>

#include "core/runtime/int8/tiles_body.h"

namespace octavo::runtime::int8::internal {
namespace {

int32_t Load4(const uint8_t* p) {
  int32_t x;
  __builtin_memcpy(&x, p, 4);
  return x;
}

__m256i Load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

template <int kRows>
void Tile(const TileCall& call, int64_t row) {
  __m256i acc[kRows][2];
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    acc[r][0] = Load(call.bias);
    acc[r][1] = Load(call.bias + 8);
  }
  const int16_t* weights = static_cast<const int16_t*>(call.weights);
  const __m256i low_bytes = _mm256_set1_epi16(0xff);
  for (int64_t s = 0; s < call.k_runs; ++s) {
    const uint8_t* rows[kRows];
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      rows[r] = call.rows[row + r] + call.offsets[s];
    }
    for (int64_t q = 0; q < call.k_blocks; ++q, weights += 4 * kVector) {
      const __m256i even0 = Load(weights), even1 = Load(weights + 16);
      const __m256i odd0 = Load(weights + 32), odd1 = Load(weights + 48);
      OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
        const __m256i x = _mm256_set1_epi32(Load4(rows[r] + 4 * q));
        const __m256i even = _mm256_and_si256(x, low_bytes), odd = _mm256_srli_epi16(x, 8);
        acc[r][0] = _mm256_add_epi32(acc[r][0], _mm256_add_epi32(_mm256_madd_epi16(even, even0),
                                                                 _mm256_madd_epi16(odd, odd0)));
        acc[r][1] = _mm256_add_epi32(acc[r][1], _mm256_add_epi32(_mm256_madd_epi16(even, even1),
                                                                 _mm256_madd_epi16(odd, odd1)));
      }
    }
  }
  alignas(32) int32_t sums[kRows * kVector];
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * kVector), acc[r][0]);
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * kVector + 8), acc[r][1]);
  }
  StoreTileRows(call, row, sums, kVector, kRows);
}

void Panel(const TileCall& call) {
  ForTiles<4>(call, 0, []<int kRows>(const TileCall& c, int64_t row) { Tile<kRows>(c, row); });
}

}  // namespace

const Tiles kAvx2Tiles = {
    .vectors = 1,
    .wide = true,
    .tile = {&Panel},
    .depthwise = &Depthwise,
    .copy_flipped = &CopyFlipped,
};

}  // namespace octavo::runtime::int8::internal
#endif
