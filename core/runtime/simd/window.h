// SPDX-License-Identifier: Apache-2.0
// The maximum of each window along a row of pixels.  All of it has internal linkage.
#pragma once

#include "core/runtime/simd/kernels.h"

namespace octavo::runtime::simd {
namespace {

void MaxOfWindows(const WindowCall& shared) {
  using Bytes = uint8_t __attribute__((vector_size(kWindowSlack)));
  const WindowCall call = shared;  // a copy that no store can change
  const Bytes flip = Bytes{} + call.flip;
  uint8_t* const end = call.y + call.pixels * call.channels;
  for (int64_t p = 0; p < call.pixels; ++p) {
    uint8_t* to = call.y + p * call.channels;
    for (int64_t c = 0; c < call.channels; c += kWindowSlack) {
      const uint8_t* from = call.x + p * call.step + c;
      Bytes most;
      __builtin_memcpy(&most, from, sizeof most);
      for (int64_t t = 1; t < call.taps; ++t) {
        Bytes tap;
        __builtin_memcpy(&tap, from + t * call.tap_step, sizeof tap);
        most = most > tap ? most : tap;
      }
      most ^= flip;
      // Bytes stored beyond the pixel are overwritten by the pixels that follow.
      if (end - (to + c) >= kWindowSlack) {
        __builtin_memcpy(to + c, &most, sizeof most);
      } else {
        const int64_t rest = call.channels - c < kWindowSlack ? call.channels - c : kWindowSlack;
        __builtin_memcpy(to + c, &most, static_cast<unsigned long>(rest));
      }
    }
  }
}

}  // namespace
}  // namespace octavo::runtime::simd
