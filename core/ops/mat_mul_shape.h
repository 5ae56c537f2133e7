// The batched matrix product of two shapes by numpy's rules.
#pragma once

#include "core/ops/data_op.h"

namespace octavo::ops {

struct MatMulShape {
  int64_t rows = 0, depth = 0, columns = 0;
  // Element offsets of each product's operands; as many as products.
  std::vector<int64_t> a_offsets, b_offsets;
  ir::Shape result;
};

// The error says what does not fit; it names no node.
Result<MatMulShape> MatMulShapeOf(ir::Shape a, ir::Shape b);

}  // namespace octavo::ops
