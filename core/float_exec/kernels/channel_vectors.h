// SPDX-License-Identifier: Apache-2.0
// The loops of tiles.h whose vectors run over output channels.  Part of tiles.cc.
#pragma once

#include <algorithm>

#include "core/float_exec/kernels/tiles.h"

// Do not unroll under a sanitizer: it checks every unrolled load, which takes minutes to compile.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OCTAVO_UNROLL
#endif
#endif
#if defined(OCTAVO_UNROLL)
#elif defined(__clang__)
#define OCTAVO_UNROLL _Pragma("unroll")
#else
#define OCTAVO_UNROLL _Pragma("GCC unroll 16")
#endif

namespace octavo::float_exec::internal {
namespace {

inline void Prefetch(const float* p) { __builtin_prefetch(p); }

template <class V, int kPixels, int kVectors>
void Pixels(const PixelCall& call) {
  constexpr int kWidth = kVectors * V::kLanes;
  typename V::Reg acc[kPixels][kVectors];
  float* const sums = call.sums;
  OCTAVO_UNROLL for (int p = 0; p < kPixels; ++p) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[p][v] = call.accumulate ? V::Load(sums + p * kWidth + v * V::kLanes) : V::Zero();
    }
  }
  const float* weights = call.weights;
  const int64_t* offset = call.offsets;
  const float* next = call.prefetch;
  int64_t stride = call.prefetch_stride, lines = std::min(call.prefetch_lines, call.taps);
  for (const int64_t* end : {offset + lines, offset + call.taps}) {
    for (; offset != end; ++offset, weights += kWidth, next += stride) {
      const float* x = call.x + *offset;
      Prefetch(call.x + offset[kPrefetchTaps]);
      Prefetch(next);
      typename V::Reg weight[kVectors];
      OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) weight[v] = V::Load(weights + v * V::kLanes);
      OCTAVO_UNROLL for (int p = 0; p < kPixels; ++p) {
        const typename V::Reg pixel = V::Broadcast(x[p]);
        OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
          acc[p][v] = V::Fma(pixel, weight[v], acc[p][v]);
        }
      }
    }
    stride = 0;
    next = call.x;
  }
  OCTAVO_UNROLL for (int p = 0; p < kPixels; ++p) {
    OCTAVO_UNROLL for (int v = 0; v < kVectors; ++v) {
      V::Store(sums + p * kWidth + v * V::kLanes, acc[p][v]);
    }
  }
}

// Transposes four channels of kLanes pixels and stores the first `count` of these channels.
template <class V>
inline void TransposeChannels(const TransposeCall& call, int64_t pixel, int64_t channel,
                              int count) {
  const int64_t stride = call.sums_stride;
  const float* from = call.sums + pixel * stride + channel;
  typename V::Reg fours[4];
  OCTAVO_UNROLL for (int p = 0; p < 4; ++p) {
    fours[p] = V::LoadFours(from + p * stride, 4 * stride);
  }
  V::TransposeFours(fours);
  float* y = call.y + channel * call.y_stride + pixel;
  const int64_t room = call.pixels - pixel;
  OCTAVO_UNROLL for (int c = 0; c < 4; ++c) {
    if (c >= count) continue;
    if (call.bias != nullptr) {
      fours[c] = V::Add(fours[c], V::Broadcast(call.bias[channel + c]));
    }
    if (room >= V::kLanes) {
      V::Store(y + c * call.y_stride, fours[c]);
    } else {
      V::StoreFirst(y + c * call.y_stride, fours[c], static_cast<int>(room));
    }
  }
}

template <class V>
void Transpose(const TransposeCall& given) {
  const TransposeCall call = given;  // the compiler must assume that the stores change `given`
  int64_t channel = 0;
  for (; channel + 4 <= call.channels; channel += 4) {
    for (int64_t pixel = 0; pixel < call.pixels; pixel += V::kLanes) {
      TransposeChannels<V>(call, pixel, channel, 4);
    }
  }
  if (channel == call.channels) return;
  for (int64_t pixel = 0; pixel < call.pixels; pixel += V::kLanes) {
    TransposeChannels<V>(call, pixel, channel, static_cast<int>(call.channels - channel));
  }
}

template <class V, int kPixels>
constexpr void FillPixels(Tiles& tiles) {
  tiles.pixel[kPixels - 1][0] = &Pixels<V, kPixels, 1>;
  tiles.pixel[kPixels - 1][1] = &Pixels<V, kPixels, 2>;
  if constexpr (kPixels > 1) FillPixels<V, kPixels - 1>(tiles);
}

}  // namespace
}  // namespace octavo::float_exec::internal
