// SPDX-License-Identifier: Apache-2.0
// The loops of tiles.h.  octavo_vector_loops compiles this file once per instruction set, so all
// code that it includes has internal linkage.
//
// A vector type V provides Reg, kLanes, kRows, kPixels, kSquares, Zero, Load, Store, LoadFirst,
// StoreFirst, LoadFours, TransposeFours, Broadcast, Add, Fma, Even and Odd; with kPicks also
// Picker, PickerOf, Pick, Halves and StoreHalves.
#include "core/float_exec/kernels/tiles.h"

#include "core/float_exec/kernels/channel_vectors.h"
#include "core/float_exec/kernels/pixel_vectors.h"
#if defined(__AVX512F__)
#include "core/float_exec/kernels/tiles_vector_avx512.h"
#elif defined(__AVX2__)
#include "core/float_exec/kernels/tiles_vector_avx2.h"
#else
#include "core/float_exec/kernels/tiles_vector_portable.h"
#endif

namespace octavo::float_exec::internal {
namespace {

// The rows of a tile's left operand, in a packed panel or in place.  In place, three pointers and
// two strides reach eight rows with the address modes of the instructions.
template <int kHeight, int kRows, bool kInPlace>
class LeftRows {
 public:
  explicit LeftRows(const TileCall& call)
      : first_(call.a),
        third_(call.a + (kRows > 3 ? 3 * call.a_stride : 0)),
        sixth_(call.a + (kRows > 6 ? 6 * call.a_stride : 0)),
        stride_(call.a_stride),
        twice_(2 * call.a_stride) {}

  float Row(int r) const {
    if constexpr (!kInPlace) return first_[r];
    const float* base = r < 3 ? first_ : r < 6 ? third_ : sixth_;
    return r % 3 == 0 ? base[0] : r % 3 == 1 ? base[stride_] : base[twice_];
  }
  void Next() {
    if constexpr (kInPlace) {
      ++first_, ++third_, ++sixth_;
    } else {
      first_ += kHeight;
    }
  }

 private:
  const float *first_, *third_, *sixth_;
  int64_t stride_, twice_;
};

template <class V, int kRows, int kVectors, bool kInPlace>
void Tile(const TileCall& call) {
  typename V::Reg acc[kRows][kVectors];
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    const float* c = call.c + r * call.c_stride;
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = call.accumulate ? V::Load(c + v * V::kLanes) : V::Zero();
    }
    // Prefetch the results, which are written at the end.  A row may touch one more line than it
    // has vectors.
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) Prefetch(c + v * V::kLanes);
    Prefetch(c + kVectors * V::kLanes - 1);
  }
  LeftRows<V::kRows, kRows, kInPlace> a(call);
  const float* b = call.b;
  const float* next = call.prefetch;
  for (int64_t k = 0; k < call.k; ++k) {
    Prefetch(next);
    typename V::Reg column[kVectors];
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) column[v] = V::Load(b + v * V::kLanes);
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      const typename V::Reg row = V::Broadcast(a.Row(r));
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = V::Fma(row, column[v], acc[r][v]);
      }
    }
    a.Next();
    b += call.b_stride;
    next += call.prefetch_stride;
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

// Spreads the planes at `low` and `high` for kColumns columns of the kernel, starting at `first`.
template <class V, int kColumns>
inline void ExpandColumns(const NarrowCall& call, const float* low, int low_count,
                          const float* high, int high_count, int64_t first) {
  typename V::Picker pickers[kColumns];
  OCTAVO_UNROLL for (int j = 0; j < kColumns; ++j) {
    pickers[j] = V::PickerOf(call.columns + (first + j) * V::kLanes);
  }
  // Local copies: the compiler must assume that the stores below change `call`.
  const int64_t x_stride = call.x_stride, column_stride = call.column_stride;
  const NarrowCall::Phase* const end = call.phases + call.phase_count;
  float* const expanded = call.expanded + first * column_stride;
  for (const NarrowCall::Phase* phase = call.phases; phase != end; ++phase) {
    const float *low_at = low + phase->x, *high_at = high + phase->x;
    float* to = expanded + phase->expanded;
    for (int64_t rows = phase->rows; rows > 0; --rows) {
      const typename V::Reg low_row = V::LoadFirst(low_at, low_count);
      const typename V::Reg high_row = V::LoadFirst(high_at, high_count);
      OCTAVO_UNROLL for (int j = 0; j < kColumns; ++j) {
        V::Store(to + j * column_stride, V::Pick(low_row, high_row, pickers[j]));
      }
      low_at += x_stride, high_at += x_stride, to += V::kLanes;
    }
  }
}

// One float for all lanes, or one for each half.
template <class V, bool kTwo>
inline typename V::Reg Both(const float* first, const float* second) {
  if constexpr (kTwo) {
    return V::Halves(*first, *second);
  } else {
    return V::Broadcast(*first);
  }
}

// Computes kRows rows from `row`, of one plane or of two planes with separate channels and results.
template <class V, int kRows, bool kTwo>
inline void NarrowRows(const NarrowCall& call, const int64_t (&channels)[2], float* const (&y)[2],
                       int64_t row) {
  typename V::Reg acc[kRows];
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) acc[r] = V::Zero();
  const float* from = call.expanded + row * V::kLanes;
  const float* first = call.weights + channels[0] * call.taps;
  const float* second = call.weights + channels[1] * call.taps;
  for (int64_t t = 0; t < call.taps; ++t) {
    const typename V::Reg weight = Both<V, kTwo>(first + t, second + t);
    const float* x = from + call.offsets[t];
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      acc[r] = V::Fma(weight, V::Load(x + r * V::kLanes), acc[r]);
    }
  }
  if (call.bias != nullptr) {
    const typename V::Reg bias = Both<V, kTwo>(call.bias + channels[0], call.bias + channels[1]);
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) acc[r] = V::Add(acc[r], bias);
  }
  const int64_t stride = call.y_width;
  const auto width = static_cast<int>(stride);
  float *low = y[0] + row * stride, *high = y[1] + row * stride;
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    if constexpr (kTwo) {
      V::StoreHalves(low, high, acc[r], width);
    } else {
      V::StoreFirst(low, acc[r], width);
    }
    low += stride, high += stride;
  }
}

template <class V, bool kTwo>
inline void NarrowPlane(const NarrowCall& call, const int64_t (&channels)[2],
                        float* const (&y)[2]) {
  const int64_t rows = call.y_height;
  int64_t row = 0;
  for (; rows - row >= 15; row += 8) NarrowRows<V, 8, kTwo>(call, channels, y, row);
  for (; rows - row >= 7; row += 7) NarrowRows<V, 7, kTwo>(call, channels, y, row);
  for (; rows - row >= 4; row += 4) NarrowRows<V, 4, kTwo>(call, channels, y, row);
  for (; row < rows; ++row) NarrowRows<V, 1, kTwo>(call, channels, y, row);
}

template <class V>
void Narrow(const NarrowCall& given) {
  const NarrowCall call = given;
  const int64_t y_plane = call.y_height * call.y_width;
  const auto width = static_cast<int>(call.x_width);
  int64_t channel = call.begin % call.channels;
  for (int64_t i = call.begin; i < call.end;) {
    const bool two = call.pairs && i + 1 < call.end;
    const float* low = call.x + i * call.x_plane;
    const int low_count = width < V::kLanes ? width : V::kLanes;
    const float* high = two ? low + call.x_plane : low + low_count;
    const int high_count = two ? low_count : width - low_count;
    int64_t column = 0;
    for (; column + 3 <= call.kernel_width; column += 3) {
      ExpandColumns<V, 3>(call, low, low_count, high, high_count, column);
    }
    for (; column < call.kernel_width; ++column) {
      ExpandColumns<V, 1>(call, low, low_count, high, high_count, column);
    }
    const int64_t next = channel + 1 == call.channels ? 0 : channel + 1;
    float* y = call.y + i * y_plane;
    if (two) {
      NarrowPlane<V, true>(call, {channel, next}, {y, y + y_plane});
      channel = next + 1 == call.channels ? 0 : next + 1;
      i += 2;
    } else {
      NarrowPlane<V, false>(call, {channel, channel}, {y, y});
      channel = next;
      ++i;
    }
  }
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
void Gather(const GatherCall& given) {
  const GatherCall call = given;  // the compiler must assume that the stores change `given`
  float* out = call.out;
  for (int64_t t = 0; t < call.k; ++t, out += call.width) {
    const float* tap = call.x + call.offsets[t];
    for (int64_t r = 0; r < call.run_count; ++r) {
      const GatherCall::Run run = call.runs[r];
      for (int64_t i = 0; i < run.length; i += V::kLanes) {
        V::Store(out + run.to + i, V::Load(tap + run.from + i));
      }
    }
    for (int64_t i = call.valid; i < call.width; ++i) out[i] = 0;
  }
}

template <class V, bool kBoth>
inline void SplitRow(const float* x, int64_t count, float* even, float* odd) {
  int64_t i = 0;
  for (; i + 2 * V::kLanes <= count; i += 2 * V::kLanes) {
    const typename V::Reg a = V::Load(x + i), b = V::Load(x + i + V::kLanes);
    V::Store(even, V::Even(a, b));
    even += V::kLanes;
    if constexpr (kBoth) V::Store(odd, V::Odd(a, b)), odd += V::kLanes;
  }
  const auto rest = static_cast<int>(count - i);
  if (rest == 0) return;
  const int first = rest < V::kLanes ? rest : V::kLanes;
  const typename V::Reg a = V::LoadFirst(x + i, first);
  const typename V::Reg b =
      rest > first ? V::LoadFirst(x + i + V::kLanes, rest - first) : V::Zero();
  V::StoreFirst(even, V::Even(a, b), (rest + 1) / 2);
  if constexpr (kBoth) V::StoreFirst(odd, V::Odd(a, b), rest / 2);
}

template <class V>
void Split(const CopyCall& given) {
  const CopyCall call = given;  // the compiler must assume that the stores change `given`
  for (int64_t r = 0; r < call.rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    float* even = call.even + r * call.to_stride;
    if (call.odd == nullptr) {
      SplitRow<V, false>(x, call.count, even, nullptr);
    } else {
      SplitRow<V, true>(x, call.count, even, call.odd + r * call.to_stride);
    }
  }
}

template <class V, int kRows>
constexpr void FillRows(Tiles& tiles) {
  tiles.tile[kRows - 1][0] = &Tile<V, kRows, 1, false>;
  tiles.tile[kRows - 1][1] = &Tile<V, kRows, 2, false>;
  tiles.tile[kRows - 1][2] = &Tile<V, kRows, 3, false>;
  tiles.tile_in_place[kRows - 1][0] = &Tile<V, kRows, 1, true>;
  tiles.tile_in_place[kRows - 1][1] = &Tile<V, kRows, 2, true>;
  tiles.tile_in_place[kRows - 1][2] = &Tile<V, kRows, 3, true>;
  if constexpr (kRows > 1) FillRows<V, kRows - 1>(tiles);
}

template <class V>
constexpr Tiles MakeTiles() {
  Tiles tiles;
  tiles.pixels = V::kPixels;
  tiles.transpose = &Transpose<V>;
  FillPixels<V, V::kPixels>(tiles);
  tiles.rows = V::kRows;
  tiles.lanes = V::kLanes;
  tiles.row[0] = &Row<V, 1>;
  tiles.row[1] = &Row<V, 2>;
  tiles.row[2] = &Row<V, 3>;
  tiles.row[3] = &Row<V, 4>;
  if constexpr (V::kPicks) tiles.narrow = &Narrow<V>;
  tiles.copy = &Copy<V>;
  tiles.split = &Split<V>;
  tiles.gather = &Gather<V>;
  FillRows<V, V::kRows>(tiles);
  return tiles;
}

// Forces constant initialization of the table at any template depth.
constexpr Tiles kVectorTiles = MakeTiles<Vector>();

}  // namespace

constinit const Tiles OCTAVO_ISA::kTiles = kVectorTiles;

}  // namespace octavo::float_exec::internal
