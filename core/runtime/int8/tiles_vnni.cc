// SPDX-License-Identifier: Apache-2.0
// The int8 tiles for AVX512-VNNI: up to 24 accumulators of 16 channels, requantized in
// registers.
#if defined(__x86_64__)
#include "core/runtime/int8/vnni_depthwise.h"
#include "core/runtime/int8/vnni_residual.h"

namespace octavo::runtime::int8::internal {
namespace {

inline int32_t Load4(const uint8_t* p) {
  int32_t x;
  __builtin_memcpy(&x, p, 4);
  return x;
}

// Adds the products of one K-block of each row, `at` bytes after its pointer, and the K-block's
// weights.
template <int kRows, int kVectors>
__attribute__((always_inline)) inline void MultiplyKBlock(const uint8_t* const (&rows)[kRows],
                                                          int64_t at, const int8_t* weights,
                                                          __m512i (&acc)[kRows][kVectors]) {
  __m512i w[kVectors];
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = _mm512_loadu_si512(weights + v * 64);
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    const __m512i x = _mm512_set1_epi32(Load4(rows[r] + at));
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) DotProduct(acc[r][v], x, w[v]);
  }
}

// Prefetches the next panel, `step` bytes per K-block.  `step` varies by call if a register is free
// for it.
template <int kVectors>
struct PanelPrefetch {
  static constexpr int64_t kLine = 64;
  const int8_t* at = nullptr;
  int64_t step = kLine;

  void Issue() {
    __builtin_prefetch(at, 0, 2);
    at += kVectors == kMaxVectors ? step : kLine;
  }
};

// One tile's share of the prefetch; all tiles together cover the panel if there are enough.  Too
// many outstanding lines would delay the tile's own loads.
template <int kRows, int kVectors>
inline PanelPrefetch<kVectors> PrefetchOf(const TileCall& call, int64_t row) {
  const auto* prefetch = static_cast<const int8_t*>(call.next_panel);
  const int64_t line = call.k_runs * call.k_blocks * 64;
  if constexpr (kVectors == kMaxVectors) {
    const int64_t first = row * call.prefetch_row;
    return {prefetch + (first < line * kVectors ? first : 0), call.prefetch_rate * kRows};
  }
  const int64_t part = row / kRows < kVectors ? row / kRows : 0;
  return {prefetch + part * line};
}

// Adds the products of the rows and a panel of weights to `acc`.  A single loop over all K-blocks
// avoids the overhead of short K runs.  With 2 and 3 vectors, GCC 12 moves accumulators between
// registers in that loop, which costs more.
template <int kRows, int kVectors>
inline void Multiply(const TileCall& call, const uint8_t* const* pointers,
                     PanelPrefetch<kVectors> prefetch, __m512i (&acc)[kRows][kVectors]) {
  const int8_t* weights = static_cast<const int8_t*>(call.weights);
  const uint8_t* rows[kRows];
  if constexpr (kVectors == 1 || kVectors == 4) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) rows[r] = pointers[r];
    const int32_t* const end = call.k_block_offsets + call.k_runs * call.k_blocks;
    for (const int32_t* offset = call.k_block_offsets; offset != end; ++offset) {
      MultiplyKBlock(rows, *offset, weights, acc);
      weights += kVectors * 64;
      prefetch.Issue();
    }
    return;
  }
  for (int64_t s = 0; s < call.k_runs; ++s) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) rows[r] = pointers[r] + call.offsets[s];
    for (int64_t q = 0; q < call.k_blocks; ++q) {
      MultiplyKBlock(rows, 4 * q, weights, acc);
      weights += kVectors * 64;
      prefetch.Issue();
    }
  }
}

template <int kRows, int kVectors>
__attribute__((noinline)) void Tile(const TileCall& call, int64_t row) {
  __m512i acc[kRows][kVectors];
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
    acc[0][v] = _mm512_loadu_si512(call.bias + v * kVector);
    OCTAVO_UNROLL for (int r = 1; r < kRows; ++r) acc[r][v] = acc[0][v];
  }
  if (call.addend != nullptr) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      __builtin_prefetch(call.addend + (row + r) * call.addend_stride);
    }
  }
  Multiply<kRows, kVectors>(call, call.rows + row, PrefetchOf<kRows, kVectors>(call, row), acc);
  if (call.weight_zeros != nullptr) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      const __m512i zeros = _mm512_loadu_si512(call.weight_zeros + v * kVector);
      OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
        acc[r][v] = _mm512_sub_epi32(
            acc[r][v], _mm512_mullo_epi32(zeros, _mm512_set1_epi32(call.row_sums[row + r])));
      }
    }
  }
  const TileOutput tile{.multipliers = call.multipliers,
                        .columns = call.columns,
                        .out = static_cast<uint8_t*>(call.out) +
                               row * call.out_stride * OutputSize(call.requantize.output),
                        .out_stride = call.out_stride,
                        .requantize = call.requantize};
  if (call.addend == nullptr) return StoreTile<kRows, kVectors>(tile, kRows, acc);
  const TileAddend addend{call.addend + row * call.addend_stride, call.addend_stride};
  StoreWithResidual<kRows, kVectors>(tile, addend, *call.residual, acc);
}

template <int kVectors>
void Panel(const TileCall& call) {
  ForTiles<kVectors <= 2 ? 12 : 6>(
      call, 0, []<int kRows>(const TileCall& c, int64_t row) { Tile<kRows, kVectors>(c, row); });
}

}  // namespace

const Tiles kVnniTiles = {
    .vectors = kMaxVectors,
    .tile = {&Panel<1>, &Panel<2>, &Panel<3>, &Panel<4>},
    .depthwise = &Depthwise,
    .interleave = &Interleave,
    .interleaved = &Interleaved,
    .find_fma_form = &FindFmaForm,
    .copy_flipped = &CopyFlipped,
};

}  // namespace octavo::runtime::int8::internal
#endif
