// SPDX-License-Identifier: Apache-2.0
// ReverseSequence(x, lengths) {batch_axis, time_axis}: for each index b along the batch axis,
// reverses the first lengths[b] positions along the time axis.
#include <cstring>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"batch_axis", ir::AttrKind::kInt},
                                        {"time_axis", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& x = context.shape(0);
  const int64_t batch = context.node().attributes.Int("batch_axis", 1);
  const int64_t time = context.node().attributes.Int("time_axis", 0);
  if (x.size() < 2 || batch + time != 1 || batch * time != 0) {
    return context.Invalid("batch_axis {} and time_axis {} must be 0 and 1", batch, time);
  }
  if (!ir::IsInteger(context.dtype(1)) || context.shape(1) != ir::Shape{x[batch]}) {
    return context.Invalid("lengths of shape {} do not fit {} sequences",
                           ir::ToString(context.shape(1)), x[batch]);
  }
  return InferSameType(context);
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t batch_axis = context.node.attributes.Int("batch_axis", 1);
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  const int64_t bytes = ir::StridesOf(x.shape())[1] * ir::SizeOf(x.dtype());
  std::byte* to = context.out().mutable_raw();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t batch = batch_axis == 0 ? row : column;
      int64_t time = batch_axis == 0 ? column : row;
      const int64_t length = context.in(1).IntAt(batch);
      if (length < 0 || length > x.shape()[1 - batch_axis]) {
        return BadData(context, "length {} is outside of extent {}", length,
                       x.shape()[1 - batch_axis]);
      }
      if (time < length) time = length - 1 - time;
      const int64_t from = batch_axis == 0 ? row * columns + time : time * columns + column;
      std::memcpy(to + (row * columns + column) * bytes, x.raw() + from * bytes, bytes);
    }
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kReverseSequence{
    .name = "ReverseSequence",
    .since = ir::Since(10),
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
};

}  // namespace octavo::ops
