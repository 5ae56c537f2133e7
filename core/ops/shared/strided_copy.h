// SPDX-License-Identifier: Apache-2.0
// Copies elements between two strided arrangements, which is what every op that only moves elements
// does.  It uses the size of an element alone, so it serves quantized and real values alike.
#pragma once

#include "core/base/parallel.h"
#include "core/ir/tensor.h"

namespace octavo::ops {

// Extents with one stride (in elements; 0 repeats, negative reverses) for each side.
struct StridedCopy {
  ir::Shape extents = {};
  ir::Shape from_strides = {};
  ir::Shape to_strides = {};
};

// to[sum(i * to_strides)] = from[sum(i * from_strides)] for all i within the extents.  `from` and
// `to` point at index 0.  No element of `to` may be named twice.  `pool` may be null.
void Copy(const StridedCopy& copy, int element_size, const std::byte* from, std::byte* to,
          ThreadPool* pool);

// The dense result of extents read from strided elements.
inline void Gather(ir::Shape extents, ir::Shape from_strides, int element_size,
                   const std::byte* from, std::byte* to, ThreadPool* pool) {
  ir::Shape to_strides = ir::StridesOf(extents);
  Copy({std::move(extents), std::move(from_strides), std::move(to_strides)}, element_size, from, to,
       pool);
}
// The same bytes under another shape.
void CopyAll(const ir::Tensor& from, ir::Tensor& to);

}  // namespace octavo::ops
