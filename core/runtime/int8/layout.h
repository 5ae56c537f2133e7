// SPDX-License-Identifier: Apache-2.0
// Converts 8-bit images between NCHW and NHWC.  Both are dense and must not overlap.
#pragma once

#include <cstdint>

#include "core/base/parallel.h"

namespace octavo::runtime::int8 {

struct ImageShape {
  int64_t batch = 1;
  int64_t channels = 0;
  int64_t pixels = 0;  // height * width
};

void NchwToNhwc(const ImageShape& shape, const void* from, void* to, ThreadPool& pool);
void NhwcToNchw(const ImageShape& shape, const void* from, void* to, ThreadPool& pool);

// to[c * to_stride + r] = from[r * from_stride + c] for rows r and columns c of bytes.
void TransposeBytes(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride,
                    int64_t rows, int64_t columns);

}  // namespace octavo::runtime::int8
