// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/inplace_concat.h"

#include "core/ops/shared/strided_copy.h"
#include "core/runtime/kernels/shared/data_movement.h"

namespace octavo::runtime {

std::optional<ConcatSlice> ConcatSliceOf(const ir::Graph& graph, ir::ValueId id,
                                         const FixedValues& fixed) {
  const ir::Value& value = graph.value(id);
  if (value.uses.size() != 1 || value.output_uses > 0) return std::nullopt;
  const ir::Use use = value.uses[0];
  const ir::Node& node = graph.node(use.node);
  const ir::Shape& shape = value.type.shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = node.attributes.Int("axis", 0);
  if (node.op->name != "Concat" || rank < 3 || (axis != 1 && axis != 1 - rank)) return std::nullopt;
  if (!IsPlain8(value.type) || !KeepsQuantization({graph, node, fixed})) return std::nullopt;
  const ir::Shape& result = graph.type(node.result()).shape;
  if (CanonicalLayout(Layout::kChannelsLast, result) == Layout::kPlain) return std::nullopt;
  ConcatSlice part{.concat = use.node, .channels = result[1]};
  for (int i = 0; i < use.input; ++i) part.first += graph.type(node.inputs[i]).shape[1];
  return part;
}

Result<Prepared> PrepareConcatCopies(const NodeView& view, const std::vector<bool>& in_place) {
  const int64_t channels = view.out().shape[1];
  struct Part {
    size_t input;
    int64_t first;
    ops::StridedCopy copy;
  };
  std::vector<Part> parts;
  int64_t first = 0;
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    const int64_t own = view.in(i).shape[1];
    const int64_t pixels = view.in(i).elements() / std::max<int64_t>(1, own);
    if (!in_place[i]) parts.push_back({i, first, {{pixels, own}, {own, 1}, {channels, 1}}});
    first += own;
  }
  return Prepared{.run = [parts](const StepContext& context) -> Status {
    for (const Part& part : parts) {
      ops::Copy(part.copy, 1, context.in(part.input).raw(),
                context.out().mutable_raw() + part.first, context.pool);
    }
    return {};
  }};
}

}  // namespace octavo::runtime
