// SPDX-License-Identifier: Apache-2.0
// The axis of Compress and Unique: without the attribute `axis`, they flatten the tensor.
#pragma once

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

// The axis on which the node works; if it specifies none, flattens `shape`.
inline Result<int> AxisOrFlat(const ir::InferContext& context, ir::Shape& shape) {
  const ir::AttrMap& attributes = context.node().attributes;
  if (attributes.Has("axis")) {
    return CheckedAxis(context, attributes.Int("axis", 0), static_cast<int>(shape.size()));
  }
  shape = {ir::NumElements(shape)};
  return 0;
}

}  // namespace octavo::ops
