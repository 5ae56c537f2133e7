// SPDX-License-Identifier: Apache-2.0
// Concat(inputs...) {axis}: concatenates the inputs along an axis.
#include "core/ops/shared/axis_rule.h"
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt, true}};

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", 0),
                                         static_cast<int>(shape.size())));
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (!context.Has(i)) return context.Invalid("input {} must be given", i);
    if (context.dtype(i) != context.dtype(0)) {
      return context.Invalid("input {} is {}, but input 0 is {}", i, Name(context.dtype(i)),
                             Name(context.dtype(0)));
    }
    ir::Shape other = context.shape(i);
    if (other.size() == shape.size()) {
      const int64_t extent = std::exchange(other[axis], shape[axis]);
      if (other == shape) {
        shape[axis] += extent;
        continue;
      }
    }
    return context.Invalid("input {} has shape {}, which differs from {} outside of axis {}", i,
                           ir::ToString(context.shape(i)), ir::ToString(context.shape(0)), axis);
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  ir::Tensor& result = context.out();
  const int axis = FrontAxis(context.node.attributes.Int("axis", 0), result.rank());
  const ir::Shape to_strides = ir::StridesOf(result.shape());
  const int element = ir::SizeOf(result.dtype());
  std::byte* to = result.mutable_raw();
  for (const ir::Tensor* input : context.inputs) {
    Copy({input->shape(), ir::StridesOf(input->shape()), to_strides}, element, input->raw(), to,
         context.pool);
    to += input->shape()[axis] * to_strides[axis] * element;
  }
  return {};
}

// Along the concatenated axis, the result's channels are those of all inputs in order.  Along
// another axis, all inputs must have equal channels, unless the channels within each input are
// equal: then the parameters vary only along the concatenated axis.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int input,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const int rank = static_cast<int>(graph.type(node.input(0)).shape.size());
  const int axis = FrontAxis(node.attributes.Int("axis", 0), rank);
  ir::Quant joined{{}, {}, axis, 0};
  bool equal = true, joins = true;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ir::Type& type = graph.type(node.inputs[i]);
    const ir::Quant* quant = static_cast<int>(i) == input ? &from
                             : type.quant                 ? &*type.quant
                                                          : nullptr;
    if (quant == nullptr) return std::nullopt;
    equal &= *quant == from;
    const std::optional<ir::Quant> uniform = IfUniform(*quant);
    joins &= uniform || quant->axis == axis;
    for (int64_t c = 0; joins && c < type.shape[axis]; ++c) {
      const ir::Quant& own = uniform ? *uniform : *quant;
      joined.scales.push_back(own.scale(c));
      joined.zero_points.push_back(own.zero_point(c));
    }
  }
  if (equal && from.axis != axis) return from;
  return joins ? std::optional(joined) : std::nullopt;
}

}  // namespace

extern constexpr ir::OpDef kConcat{
    .name = "Concat",
    .since = ir::Since(1),
    .inputs = {1, ir::kManyInputs},
    .attributes = kAttributes,
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
    .identity_of = &OnlyInput,
};

}  // namespace octavo::ops
