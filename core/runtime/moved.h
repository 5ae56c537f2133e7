// Values that only show elements of another one: a chain of Reshape, Transpose, Slice, Gather,
// Split.. is one copy from where the chain begins, made when a reader wants the value, in the
// layout that it wants.  What is between them is never stored.
#pragma once

#include "core/ops/strided_copy.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

struct Moved {
  ir::ValueId base = {};
  ir::Tensor numbers = {};  // i32 in the value's shape: which element of the base, both plain
};

// Whether the node's results show elements of its first operand, known ahead of any run.
bool OnlyMoves(const NodeView& view);
// The numbers of each result's elements, given those of the operand's.
Result<std::vector<ir::Tensor>> MovedNumbers(const NodeView& view, const ir::Tensor& numbers,
                                             ThreadPool& pool);
// Those of a value that shows itself.
ir::Tensor OwnNumbers(const ir::Shape& shape);

// One copy of bytes, each from a place that is known.
class Movement {
 public:
  // `shape` is the base's.
  Movement(const Moved& moved, const ir::Shape& shape, Layout from, Layout to);
  void Run(const std::byte* from, std::byte* to, ThreadPool& pool) const;
  // What it takes, in bytes that are copied one by one.
  int64_t Cost() const;

 private:
  bool IsTurn() const;
  void Turn(const uint8_t* from, uint8_t* to, ThreadPool& pool) const;

  ops::StridedCopy copy_ = {};
  int64_t first_ = 0;                 // that the copy begins with
  std::vector<int32_t> places_ = {};  // or, where no strides say it, of each byte
};

}  // namespace octavo::runtime
