// SPDX-License-Identifier: Apache-2.0
// GatherND(data, indices) {batch_dims}: the slices of data that the last axis of indices addresses.
#include <cstring>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"batch_dims", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  const ir::Shape& indices = context.shape(1);
  const int64_t batch = context.node().attributes.Int("batch_dims", 0);
  if (context.dtype(1) != ir::DType::kI64 && context.dtype(1) != ir::DType::kI32) {
    return context.Invalid("indices are {}, but must be i64", Name(context.dtype(1)));
  }
  if (data.empty() || indices.empty() || batch < 0 ||
      batch >= static_cast<int64_t>(std::min(data.size(), indices.size()))) {
    return context.Invalid("batch_dims {} does not fit data of rank {} and indices of rank {}",
                           batch, data.size(), indices.size());
  }
  const int64_t depth = indices.back();
  if (depth < 1 || batch + depth > static_cast<int64_t>(data.size()) ||
      !std::equal(data.begin(), data.begin() + batch, indices.begin())) {
    return context.Invalid("indices of shape {} do not fit data of shape {}", ir::ToString(indices),
                           ir::ToString(data));
  }
  ir::Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + batch + depth, data.end());
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  const ir::Tensor& indices = context.in(1);
  const int64_t batch = context.node.attributes.Int("batch_dims", 0);
  const int64_t depth = indices.shape().back();
  const ir::Shape strides = ir::StridesOf(data.shape());
  int64_t batches = 1;
  for (int64_t i = 0; i < batch; ++i) batches *= data.shape()[i];
  int64_t block = 1;
  for (int64_t i = batch + depth; i < data.rank(); ++i) block *= data.shape()[i];
  const int64_t tuples = indices.size() / depth;
  if (tuples == 0 || block == 0) return {};
  const int element = ir::SizeOf(data.dtype());
  std::byte* to = context.out().mutable_raw();
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t offset = t / (tuples / batches) * (data.size() / batches);
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t extent = data.shape()[batch + i];
      int64_t index = indices.IntAt(t * depth + i);
      if (index < -extent || index >= extent) {
        return BadData(context, "index {} is outside of extent {}", index, extent);
      }
      if (index < 0) index += extent;
      offset += index * strides[batch + i];
    }
    std::memcpy(to + t * block * element, data.raw() + offset * element, block * element);
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kGatherND{
    .name = "GatherND",
    .since = ir::Since(11),
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
