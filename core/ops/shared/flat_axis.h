// SPDX-License-Identifier: Apache-2.0
// The axis of Compress and Unique, which flatten a tensor if there is no attribute `axis`.
#pragma once

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

// The node's axis; if it has none, 0, and `shape` becomes that of the flattened elements.
inline Result<int> AxisOrFlat(const ir::InferContext& context, ir::Shape& shape) {
  const ir::AttrMap& attributes = context.node().attributes;
  if (attributes.Has("axis")) {
    return CheckedAxis(context, attributes.Int("axis", 0), static_cast<int>(shape.size()));
  }
  shape = {ir::NumElements(shape)};
  return 0;
}

}  // namespace octavo::ops
