// SPDX-License-Identifier: Apache-2.0
// Reshape, Flatten, Squeeze, Unsqueeze: the elements in the same order under another shape.
#include "core/ops/shared/axis_rule.h"
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr ir::AttrSpec kReshapeAttributes[] = {{"allowzero", ir::AttrKind::kInt}};

// Reshape(data, shape) {allowzero}: -1 stands for the remaining extent, 0 for data's own extent
// (for 0 itself with allowzero).
Status InferReshape(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  OCTAVO_TRY(ir::Shape shape, context.KnownInts(1, "shape"));
  const bool zero_copies = context.node().attributes.Int("allowzero", 0) == 0;
  int64_t known = 1;
  int open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && zero_copies) {
      if (i >= data.size())
        return context.Invalid("shape keeps extent {} of rank {}", i, data.size());
      shape[i] = data[i];
    }
    if (shape[i] == -1 && open < 0) {
      open = static_cast<int>(i);
    } else if (shape[i] < 0) {
      return context.Invalid("shape {} is not allowed", ir::ToString(shape));
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      return context.Invalid("shape {} is too large", ir::ToString(shape));
    }
  }
  const int64_t elements = ir::NumElements(data);
  if (open >= 0) {
    if (known == 0 || elements % known != 0) {
      return context.Invalid("{} elements do not divide into shape {}", elements,
                             ir::ToString(shape));
    }
    shape[open] = elements / known;
  } else if (known != elements) {
    return context.Invalid("shape {} cannot hold the {} elements of shape {}", ir::ToString(shape),
                           elements, ir::ToString(data));
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

constexpr ir::AttrSpec kFlattenAttributes[] = {{"axis", ir::AttrKind::kInt}};

// Flatten(input) {axis}: two axes: the product of the extents before `axis`, and that of the rest.
Status InferFlatten(ir::InferContext& context) {
  const ir::Shape& shape = context.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = context.node().attributes.Int("axis", 1);
  if (axis < -rank || axis > rank) {
    return context.Invalid("axis {} is outside of rank {}", axis, rank).Field("axis");
  }
  if (axis < 0) axis += rank;
  const ir::Shape outer(shape.begin(), shape.begin() + axis),
      inner(shape.begin() + axis, shape.end());
  context.SetResult(0, context.dtype(0), {ir::NumElements(outer), ir::NumElements(inner)});
  return {};
}

// Squeeze(data, axes?): removes the given axes of extent 1; without `axes`, all of them.
Status InferSqueeze(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  const int rank = static_cast<int>(data.size());
  std::vector<bool> drop(rank, false);
  if (context.Has(1)) {
    OCTAVO_TRY(const std::vector<int64_t> axes, context.KnownInts(1, "axes"));
    for (const int64_t given : axes) {
      OCTAVO_TRY(const int axis, CheckedAxis(context, given, rank));
      if (data[axis] != 1) {
        return context.Invalid("axis {} has extent {}, but must have 1", given, data[axis]);
      }
      drop[axis] = true;
    }
  } else {
    for (int i = 0; i < rank; ++i) drop[i] = data[i] == 1;
  }
  ir::Shape shape;
  for (int i = 0; i < rank; ++i) {
    if (!drop[i]) shape.push_back(data[i]);
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

// Unsqueeze(data, axes): inserts axes of extent 1; `axes` are their positions in the result.
Status InferUnsqueeze(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  OCTAVO_TRY(const std::vector<int64_t> axes, context.KnownInts(1, "axes"));
  const int rank = static_cast<int>(data.size() + axes.size());
  std::vector<bool> put(rank, false);
  for (const int64_t given : axes) {
    OCTAVO_TRY(const int axis, CheckedAxis(context, given, rank));
    if (put[axis]) return context.Invalid("axis {} is given twice", given);
    put[axis] = true;
  }
  ir::Shape shape;
  size_t next = 0;
  for (int i = 0; i < rank; ++i) shape.push_back(put[i] ? 1 : data[next++]);
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status CopyElements(const ir::EvalContext& context) {
  CopyAll(context.in(0), context.out());
  return {};
}

std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  return ReshapeQuant(from, graph.type(node.input(0)).shape, graph.type(node.result()).shape);
}

constexpr OpDef ReshapeRow(std::string_view name, ir::Arity inputs,
                           Status (*infer)(ir::InferContext& context),
                           std::span<const ir::AttrSpec> attributes = {}) {
  return {.name = name,
          .since = Since(1),
          .inputs = inputs,
          .attributes = attributes,
          .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
          .quant = kSameScale,
          .rescale = kMovesRescale,
          .map_quant = &MapQuant,
          .infer = infer,
          .definition = &CopyElements,
          .moves_data = ir::Movement::kReshape,
          .identity_of = &FirstInput};
}

}  // namespace

extern constexpr OpDef kReshape = ReshapeRow("Reshape", {2, 2}, &InferReshape, kReshapeAttributes);
extern constexpr OpDef kFlatten = ReshapeRow("Flatten", {1, 1}, &InferFlatten, kFlattenAttributes);
extern constexpr OpDef kSqueeze = ReshapeRow("Squeeze", {1, 2}, &InferSqueeze);
extern constexpr OpDef kUnsqueeze = ReshapeRow("Unsqueeze", {2, 2}, &InferUnsqueeze);

}  // namespace octavo::ops
