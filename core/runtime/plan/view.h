// SPDX-License-Identifier: Apache-2.0
// Lazy views: a permutation or subset of another value's elements, made by chains of Reshape,
// Transpose, Slice, Gather and Split.  When a kernel reads a view, one copy from the base makes it,
// in the layout that the kernel needs; values within the chain are never stored.
#pragma once

#include "core/ops/shared/strided_copy.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

struct LazyView {
  ir::ValueId base = {};
  ir::Tensor indices = {};  // i32, in the view's shape: indices into the base, both plain
};

// Whether the node's results are views of its first operand with indices known at plan time.
bool IsLazyView(const NodeView& view);
// The indices of the results, given the indices of the operand.
Result<std::vector<ir::Tensor>> ViewIndices(const NodeView& view, const ir::Tensor& indices,
                                            ThreadPool& pool);
// The indices of a value as a view of itself.
ir::Tensor IdentityIndices(const ir::Shape& shape);

// Copies a view of 8-bit elements from its base.
class ViewCopy {
 public:
  // `shape` is the shape of the base.
  ViewCopy(const LazyView& moved, const ir::Shape& shape, Layout from, Layout to);
  void Run(const std::byte* from, std::byte* to, ThreadPool& pool) const;
  // The cost, in units of copying a single byte.
  int64_t Cost() const;

 private:
  bool IsTranspose() const;
  void Transpose(const uint8_t* from, uint8_t* to, ThreadPool& pool) const;

  ops::StridedCopy copy_ = {};
  int64_t first_ = 0;                 // index of the first element
  std::vector<int32_t> places_ = {};  // of every byte, unless strides generate them
};

}  // namespace octavo::runtime
