// The body of tiles.h for any vector type V: Reg, kLanes, kRows, Zero, Load, Store,
// LoadFirst, StoreFirst, Broadcast, Add, Fma, Even and Odd.  Included by the tiles_*.cc files
// alone; all of it has internal linkage, because each of them is compiled for another instruction
// set.
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

// kRows rows from `row` on, and kVectors vectors from column `begin` on.
template <class V, int kRows, int kVectors>
void RowPart(const RowCall& call, int64_t row, int64_t begin) {
  typename V::Reg acc[kRows][kVectors];
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) acc[r][v] = V::Zero();
  }
  const float* from = call.x + row * call.x_stride + begin;
  for (int64_t t = 0; t < call.taps; ++t) {
    const typename V::Reg weight = V::Broadcast(call.weights[t]);
    const float* x = from + call.offsets[t];
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = V::Fma(weight, V::Load(x + r * call.x_stride + v * V::kLanes), acc[r][v]);
      }
    }
  }
  const int64_t room = call.width - begin - (kVectors - 1) * V::kLanes;  // of the last vector
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    float* y = call.y + (row + r) * call.y_stride + begin;
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      if (call.bias != nullptr) acc[r][v] = V::Add(acc[r][v], V::Broadcast(*call.bias));
      if (v + 1 < kVectors || room >= V::kLanes) {
        V::Store(y + v * V::kLanes, acc[r][v]);
      } else {
        V::StoreFirst(y + v * V::kLanes, acc[r][v], static_cast<int>(room));
      }
    }
  }
}

template <class V, int kVectors>
void RowColumns(const RowCall& call, int64_t begin) {
  // About as many chains as hide the latency of one.
  constexpr int kRows = kVectors == 1 ? 6 : kVectors == 2 ? 4 : 2;
  int64_t row = 0;
  for (; row + kRows <= call.rows; row += kRows) RowPart<V, kRows, kVectors>(call, row, begin);
  for (; row + 2 <= call.rows; row += 2) RowPart<V, 2, kVectors>(call, row, begin);
  if (row < call.rows) RowPart<V, 1, kVectors>(call, row, begin);
}

template <class V>
void Row(const RowCall& call) {
  int64_t i = 0;
  for (; i + 4 * V::kLanes <= call.width; i += 4 * V::kLanes) RowColumns<V, 4>(call, i);
  const int64_t rest = (call.width - i + V::kLanes - 1) / V::kLanes;
  if (rest == 4) RowColumns<V, 4>(call, i);
  if (rest == 3) RowColumns<V, 3>(call, i);
  if (rest == 2) RowColumns<V, 2>(call, i);
  if (rest == 1) RowColumns<V, 1>(call, i);
}

template <class V>
void Copy(const CopyCall& call) {
  for (int64_t r = 0; r < call.rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    float* to = call.to + r * call.to_stride;
    int64_t i = 0;
    for (; i + V::kLanes <= call.count; i += V::kLanes) V::Store(to + i, V::Load(x + i));
    const auto rest = static_cast<int>(call.count - i);
    if (rest > 0) V::StoreFirst(to + i, V::LoadFirst(x + i, rest), rest);
  }
}

template <class V>
void Split(const CopyCall& call) {
  for (int64_t r = 0; r < call.rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    float* even = call.even + r * call.to_stride;
    float* odd = call.odd + r * call.to_stride;
    int64_t i = 0;
    for (; i + 2 * V::kLanes <= call.count; i += 2 * V::kLanes) {
      const typename V::Reg a = V::Load(x + i), b = V::Load(x + i + V::kLanes);
      V::Store(even + i / 2, V::Even(a, b));
      V::Store(odd + i / 2, V::Odd(a, b));
    }
    const auto rest = static_cast<int>(call.count - i);
    if (rest == 0) continue;
    const int first = rest < V::kLanes ? rest : V::kLanes;
    const typename V::Reg a = V::LoadFirst(x + i, first);
    const typename V::Reg b =
        rest > first ? V::LoadFirst(x + i + V::kLanes, rest - first) : V::Zero();
    V::StoreFirst(even + i / 2, V::Even(a, b), (rest + 1) / 2);
    V::StoreFirst(odd + i / 2, V::Odd(a, b), rest / 2);
  }
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
  tiles.copy = &Copy<V>;
  tiles.split = &Split<V>;
  FillRows<V, V::kRows>(tiles);
  return tiles;
}

}  // namespace
}  // namespace octavo::reference::internal
