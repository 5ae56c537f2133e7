// SPDX-License-Identifier: Apache-2.0
// The axis of Compress and Unique: without the attribute `axis` they read a tensor as flat.
#pragma once

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

// The axis along which the node works; where it has none, `shape` becomes that of the flat
// elements.
inline Result<int> AxisOrFlat(const ir::InferContext& context, ir::Shape& shape) {
  const ir::AttrMap& attributes = context.node().attributes;
  if (attributes.Has("axis")) {
    return CheckedAxis(context, attributes.Int("axis", 0), static_cast<int>(shape.size()));
  }
  shape = {ir::NumElements(shape)};
  return 0;
}

}  // namespace octavo::ops
