// SPDX-License-Identifier: Apache-2.0
// Copies elements between two strided layouts: the work of every op that only moves elements.  It
// depends only on the element size, so it serves quantized and real values alike.
#pragma once

#include "core/base/parallel.h"
#include "core/ir/tensor.h"

namespace octavo::ops {

// Extents, and for each side one stride per extent (in elements; 0 repeats, negative reverses).
struct StridedCopy {
  ir::Shape extents = {};
  ir::Shape from_strides = {};
  ir::Shape to_strides = {};
};

// to[sum(i * to_strides)] = from[sum(i * from_strides)] for all i within the extents.  `from` and
// `to` point at index 0.  No two indices may address the same element of `to`.  `pool` may be null.
void Copy(const StridedCopy& copy, int element_size, const std::byte* from, std::byte* to,
          ThreadPool* pool);

// Gathers strided elements into a dense result of the given extents.
inline void Gather(ir::Shape extents, ir::Shape from_strides, int element_size,
                   const std::byte* from, std::byte* to, ThreadPool* pool) {
  ir::Shape to_strides = ir::StridesOf(extents);
  Copy({std::move(extents), std::move(from_strides), std::move(to_strides)}, element_size, from, to,
       pool);
}
// Copies the bytes unchanged; the shapes may differ.
void CopyAll(const ir::Tensor& from, ir::Tensor& to);

}  // namespace octavo::ops
