// SPDX-License-Identifier: Apache-2.0
// Split(input, split?) {axis, num_outputs}: consecutive parts along an axis; by default equal ones,
// the last smaller if the extent does not divide evenly.
#include "core/ops/shared/axis_rule.h"
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt},
                                        {"num_outputs", ir::AttrKind::kInt}};

Result<std::vector<int64_t>> Parts(const ir::InferContext& context, int64_t extent) {
  const auto count = static_cast<int64_t>(context.result_count());
  if (context.Has(1)) return context.KnownInts(1, "split");
  if (const int64_t wanted = context.node().attributes.Int("num_outputs", count); wanted != count) {
    return context.Invalid("num_outputs is {}, but it has {} outputs", wanted, count);
  }
  const int64_t part = (extent + count - 1) / count;
  std::vector<int64_t> parts(count, part);
  parts.back() = extent - part * (count - 1);
  return parts;
}

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", 0),
                                         static_cast<int>(shape.size())));
  const int64_t extent = shape[axis];
  OCTAVO_TRY(const std::vector<int64_t> parts, Parts(context, extent));
  int64_t sum = 0;
  for (const int64_t part : parts) {
    if (part < 0 || part > extent) return context.Invalid("a part has extent {}", part);
    sum += part;
  }
  if (parts.size() != context.result_count() || sum != extent) {
    return context.Invalid("{} parts of extent {} in all, but it has {} outputs and extent {}",
                           parts.size(), sum, context.result_count(), extent);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    shape[axis] = parts[i];
    context.SetResult(i, context.dtype(0), shape);
  }
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& input = context.in(0);
  const int axis = FrontAxis(context.node.attributes.Int("axis", 0), input.rank());
  const ir::Shape strides = ir::StridesOf(input.shape());
  const int element = ir::SizeOf(input.dtype());
  const std::byte* from = input.raw();
  for (ir::Tensor& result : context.results) {
    Gather(result.shape(), strides, element, from, result.mutable_raw(), context.pool);
    from += result.shape()[axis] * strides[axis] * element;
  }
  return {};
}

// The parameters of all results, concatenated (see ir::MapQuant).
std::optional<ir::Quant> MapQuant(const ir::Graph&, const ir::Node&, int, const ir::Quant& from) {
  return from;
}

int FirstIfUnsplit(const ir::Graph&, const ir::Node& node) {
  return node.results.size() == 1 ? 0 : -1;
}

}  // namespace

extern constexpr ir::OpDef kSplit{
    .name = "Split",
    .since = ir::Since(1),
    .inputs = {1, 2},
    .results = {1, ir::kManyInputs},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kView,
    .identity_of = &FirstIfUnsplit,
};

}  // namespace octavo::ops
