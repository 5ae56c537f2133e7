// SPDX-License-Identifier: Apache-2.0
// The loops of tiles.h whose vectors run over a row of pixels, read in place.  Part of tiles.cc.
#pragma once

#include "core/float_exec/kernels/channel_vectors.h"

namespace octavo::float_exec::internal {
namespace {

template <class V, int kVectors>
inline void StoreRow(const RowCall& call, int channel, int64_t row, int64_t begin,
                     const typename V::Reg (&sums)[kVectors]) {
  const int64_t room = call.width - begin - (kVectors - 1) * V::kLanes;  // for the last vector
  float* y = call.y + channel * call.y_channel_stride + row * call.y_stride + begin;
  OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
    typename V::Reg sum = sums[v];
    if (call.bias != nullptr) sum = V::Add(sum, V::Broadcast(call.bias[channel]));
    if (v + 1 < kVectors || room >= V::kLanes) {
      V::Store(y + v * V::kLanes, sum);
    } else {
      V::StoreFirst(y + v * V::kLanes, sum, static_cast<int>(room));
    }
  }
}

// Computes kRows rows from `row` and kVectors vectors from column `begin`, for kChannels channels.
template <class V, int kChannels, int kRows, int kVectors>
void RowPart(const RowCall& call, int64_t row, int64_t begin) {
  typename V::Reg acc[kChannels][kRows][kVectors];
  OCTAVO_UNROLL for (int c = 0; c < kChannels; ++c) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) acc[c][r][v] = V::Zero();
    }
  }
  const float* from = call.x + row * call.x_stride + begin;
  const float* weights[kChannels];
  OCTAVO_UNROLL for (int c = 0; c < kChannels; ++c) weights[c] = call.weights + c * call.taps;
  for (int64_t t = 0; t < call.taps; ++t) {
    const float* x = from + call.offsets[t];
    typename V::Reg weight[kChannels];
    OCTAVO_UNROLL for (int c = 0; c < kChannels; ++c) weight[c] = V::Broadcast(weights[c][t]);
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        const typename V::Reg value = V::Load(x + r * call.x_stride + v * V::kLanes);
        OCTAVO_UNROLL for (int c = 0; c < kChannels; ++c) {
          acc[c][r][v] = V::Fma(weight[c], value, acc[c][r][v]);
        }
      }
    }
  }
  OCTAVO_UNROLL for (int c = 0; c < kChannels; ++c) {
    OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) StoreRow<V>(call, c, row + r, begin, acc[c][r]);
  }
}

// As RowPart for one channel and a square kernel without dilation: loads a vector of the input once
// for all output rows that use it.
template <class V, int kKernel, int kStride, int kRows, int kVectors>
void SquarePart(const RowCall& call, int64_t row, int64_t begin) {
  typename V::Reg acc[1][kRows][kVectors];
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) acc[0][r][v] = V::Zero();
  }
  const float* from = call.x + row * call.x_stride + begin;
  const int64_t pitch = call.pitch;
  const float* weights = call.weights;
  OCTAVO_UNROLL for (int q = 0; q < (kRows - 1) * kStride + kKernel; ++q) {
    for (int j = 0; j < kKernel; ++j) {
      const float* x = from + q * pitch + call.offsets[j];
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
        const typename V::Reg value = V::Load(x + v * V::kLanes);
        OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) {
          const int i = q - r * kStride;
          if (i < 0 || i >= kKernel) continue;
          acc[0][r][v] = V::Fma(V::Broadcast(weights[i * kKernel + j]), value, acc[0][r][v]);
        }
      }
    }
  }
  OCTAVO_UNROLL for (int r = 0; r < kRows; ++r) StoreRow<V>(call, 0, row + r, begin, acc[0][r]);
}

// Rows per call: enough chains to hide the latency of a multiply-add, few enough for the registers.
template <class V>
constexpr int RowsAtOnce(int channels, int vectors) {
  if (channels == 1) return vectors == 1 ? 6 : vectors == 2 ? 4 : 2;
  const int chains = V::kLanes == 16 ? 24 : V::kLanes == 8 ? 12 : 8;
  const int rows = chains / (channels * vectors);
  return rows < 1 ? 1 : rows > 6 ? 6 : rows;
}

template <class V, int kKernel, int kStride, int kVectors>
void SquareColumns(const RowCall& call, int64_t begin) {
  constexpr int kRows = V::kLanes == 16 || kVectors <= 2 ? 4 : 2;
  int64_t row = 0;
  for (; row + kRows <= call.rows; row += kRows) {
    SquarePart<V, kKernel, kStride, kRows, kVectors>(call, row, begin);
  }
  for (; row < call.rows; ++row) SquarePart<V, kKernel, kStride, 1, kVectors>(call, row, begin);
}

template <class V, int kChannels, int kVectors>
void RowColumns(const RowCall& call, int64_t begin) {
  if constexpr (kChannels == 1 && V::kSquares) {
    const int64_t step = call.pitch == 0 ? 0 : call.x_stride / call.pitch;
    if (call.taps == 9 && step == 1) return SquareColumns<V, 3, 1, kVectors>(call, begin);
    if (call.taps == 9 && step == 2) return SquareColumns<V, 3, 2, kVectors>(call, begin);
    if (call.taps == 25 && step == 1) return SquareColumns<V, 5, 1, kVectors>(call, begin);
    if (call.taps == 25 && step == 2) return SquareColumns<V, 5, 2, kVectors>(call, begin);
  }
  constexpr int kRows = RowsAtOnce<V>(kChannels, kVectors);
  int64_t row = 0;
  for (; row + kRows <= call.rows; row += kRows) {
    RowPart<V, kChannels, kRows, kVectors>(call, row, begin);
  }
  if constexpr (kRows > 2) {
    for (; row + 2 <= call.rows; row += 2) RowPart<V, kChannels, 2, kVectors>(call, row, begin);
  }
  for (; row < call.rows; ++row) RowPart<V, kChannels, 1, kVectors>(call, row, begin);
}

template <class V, int kChannels>
void Row(const RowCall& call) {
  int64_t i = 0;
  for (; i + 4 * V::kLanes <= call.width; i += 4 * V::kLanes) RowColumns<V, kChannels, 4>(call, i);
  const int64_t rest = (call.width - i + V::kLanes - 1) / V::kLanes;
  if (rest == 4) RowColumns<V, kChannels, 4>(call, i);
  if (rest == 3) RowColumns<V, kChannels, 3>(call, i);
  if (rest == 2) RowColumns<V, kChannels, 2>(call, i);
  if (rest == 1) RowColumns<V, kChannels, 1>(call, i);
}

}  // namespace
}  // namespace octavo::float_exec::internal
