// The int8 tiles for AVX512-VNNI: up to 24 accumulators of 16 channels, ended in registers.
#if defined(__x86_64__)
#include "core/runtime/int8/vnni_addition.h"
#include "core/runtime/int8/vnni_depthwise.h"

namespace octavo::runtime::int8::internal {
namespace {

inline int32_t Load4(const uint8_t* p) {
  int32_t x;
  __builtin_memcpy(&x, p, 4);
  return x;
}

// Adds the products of four bytes of each row, `at` bytes behind its pointer, and their weights.
template <int kRows, int kVectors>
__attribute__((always_inline)) inline void MultiplyQuad(const uint8_t* const (&rows)[kRows],
                                                        int64_t at, const int8_t* weights,
                                                        __m512i (&acc)[kRows][kVectors]) {
  __m512i w[kVectors];
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = _mm512_loadu_si512(weights + v * 64);
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    const __m512i x = _mm512_set1_epi32(Load4(rows[r] + at));
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) DotProduct(acc[r][v], x, w[v]);
  }
}

// What a tile brings near of the next panel: `step` bytes for each of its quads, which is a number
// of each call where there are registers for it.
template <int kVectors>
struct Ahead {
  static constexpr int64_t kLine = 64;
  const int8_t* at = nullptr;
  int64_t step = kLine;

  void Bring() {
    __builtin_prefetch(at, 0, 2);
    at += kVectors == kMaxVectors ? step : kLine;
  }
};

// A tile's part: all tiles together bring all, if there are enough of them.  Many lines on their
// way at a time would keep the tile's own from coming.
template <int kRows, int kVectors>
inline Ahead<kVectors> AheadOf(const TileCall& call, int64_t row) {
  const auto* ahead = static_cast<const int8_t*>(call.ahead);
  const int64_t line = call.segments * call.quads * 64;
  if constexpr (kVectors == kMaxVectors) {
    const int64_t first = row * call.ahead_row;
    return {ahead + (first < line * kVectors ? first : 0), call.ahead_rate * kRows};
  }
  const int64_t part = row / kRows < kVectors ? row / kRows : 0;
  return {ahead + part * line};
}

// Products of the rows' segments and a panel of weights, added to `acc`.  One loop over all quads
// spares the ends of short segments; at 2 and 3 vectors GCC 12 moves accumulators about in it,
// which costs more.
template <int kRows, int kVectors>
inline void Multiply(const TileCall& call, const uint8_t* const* pointers, Ahead<kVectors> ahead,
                     __m512i (&acc)[kRows][kVectors]) {
  const int8_t* weights = static_cast<const int8_t*>(call.weights);
  const uint8_t* rows[kRows];
  if constexpr (kVectors == 1 || kVectors == 4) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) rows[r] = pointers[r];
    const int32_t* const end = call.quad_offsets + call.segments * call.quads;
    for (const int32_t* offset = call.quad_offsets; offset != end; ++offset) {
      MultiplyQuad(rows, *offset, weights, acc);
      weights += kVectors * 64;
      ahead.Bring();
    }
    return;
  }
  for (int64_t s = 0; s < call.segments; ++s) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) rows[r] = pointers[r] + call.offsets[s];
    for (int64_t q = 0; q < call.quads; ++q) {
      MultiplyQuad(rows, 4 * q, weights, acc);
      weights += kVectors * 64;
      ahead.Bring();
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
  Multiply<kRows, kVectors>(call, call.rows + row, AheadOf<kRows, kVectors>(call, row), acc);
  if (call.weight_zeros != nullptr) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      const __m512i zeros = _mm512_loadu_si512(call.weight_zeros + v * kVector);
      OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
        acc[r][v] = _mm512_sub_epi32(
            acc[r][v], _mm512_mullo_epi32(zeros, _mm512_set1_epi32(call.row_sums[row + r])));
      }
    }
  }
  const TileEnd end{.multipliers = call.multipliers,
                    .columns = call.columns,
                    .out = static_cast<uint8_t*>(call.out) +
                           row * call.out_stride * OutputSize(call.ending.output),
                    .out_stride = call.out_stride,
                    .ending = call.ending};
  if (call.addend == nullptr) return StoreTile<kRows, kVectors>(end, kRows, acc);
  const TileAddend addend{call.addend + row * call.addend_stride, call.addend_stride};
  StoreAdded<kRows, kVectors>(end, addend, *call.addition, acc);
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
    .shorten = &Shorten,
    .copy_flipped = &CopyFlipped,
};

}  // namespace octavo::runtime::int8::internal
#endif
