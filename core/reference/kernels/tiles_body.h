// The body of tiles.h for any vector type V: Reg, kLanes, kRows, Zero, Load, Store, Broadcast, Add
// and Fma.  Included by the tiles_*.cc files alone; all of it has internal linkage, because each
// of them is compiled for another instruction set.
#pragma once

#include "core/reference/kernels/tiles.h"

#if defined(__clang__)
#define OCTAVO_UNROLL _Pragma("unroll")
#else
#define OCTAVO_UNROLL _Pragma("GCC unroll 16")
#endif

namespace octavo::reference::internal {
namespace {

template <class V, int kRows, int kVectors>
void Tile(const TileCall& call) {
  typename V::Reg acc[kRows][kVectors];
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = call.accumulate ? V::Load(call.c + r * call.c_stride + v * V::kLanes) : V::Zero();
    }
  }
  const float* a = call.a;
  const float* b = call.b;
  for (int64_t k = 0; k < call.k; ++k) {
    typename V::Reg column[kVectors];
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) column[v] = V::Load(b + v * V::kLanes);
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      const typename V::Reg row = V::Broadcast(a[r]);
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = V::Fma(row, column[v], acc[r][v]);
      }
    }
    a += V::kRows;
    b += call.b_stride;
  }
  if (call.row_bias != nullptr) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      const typename V::Reg bias = V::Broadcast(call.row_bias[r]);
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) acc[r][v] = V::Add(acc[r][v], bias);
    }
  }
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      V::Store(call.c + r * call.c_stride + v * V::kLanes, acc[r][v]);
    }
  }
}

template <class V, int kVectors>
void RowPart(const RowCall& call, int64_t begin) {
  typename V::Reg acc[kVectors];
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) acc[v] = V::Zero();
  for (int64_t t = 0; t < call.taps; ++t) {
    const typename V::Reg weight = V::Broadcast(call.weights[t]);
    const float* x = call.x + call.offsets[t] + begin;
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[v] = V::Fma(weight, V::Load(x + v * V::kLanes), acc[v]);
    }
  }
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
    if (call.bias != nullptr) acc[v] = V::Add(acc[v], V::Broadcast(*call.bias));
    V::Store(call.y + begin + v * V::kLanes, acc[v]);
  }
}

template <class V>
void Row(const RowCall& call) {
  int64_t i = 0;
  for (; i + 4 * V::kLanes <= call.width; i += 4 * V::kLanes) RowPart<V, 4>(call, i);
  const int64_t rest = (call.width - i) / V::kLanes;
  if (rest == 3) RowPart<V, 3>(call, i);
  if (rest == 2) RowPart<V, 2>(call, i);
  if (rest == 1) RowPart<V, 1>(call, i);
}

template <class V, int kRows>
constexpr void FillRows(Tiles& tiles) {
  tiles.tile[kRows - 1][0] = &Tile<V, kRows, 1>;
  tiles.tile[kRows - 1][1] = &Tile<V, kRows, 2>;
  tiles.tile[kRows - 1][2] = &Tile<V, kRows, 3>;
  if constexpr (kRows > 1) FillRows<V, kRows - 1>(tiles);
}

template <class V>
constexpr Tiles MakeTiles() {
  Tiles tiles;
  tiles.rows = V::kRows;
  tiles.lanes = V::kLanes;
  tiles.row = &Row<V>;
  FillRows<V, V::kRows>(tiles);
  return tiles;
}

}  // namespace
}  // namespace octavo::reference::internal
