// SPDX-License-Identifier: Apache-2.0
// Slice(data, starts, ends, axes?, steps?): every step-th element from start to end along axes.
#include <limits>

#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

// The indices along one axis: start, start + step, ... count times.
struct Taken {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

using Ints = std::vector<int64_t>;

Taken Take(int64_t extent, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    return {start, step, start < end ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<int64_t>(start, 0, std::max<int64_t>(extent - 1, 0));
  end = std::clamp<int64_t>(end, -1, extent - 1);
  return {start, step, extent > 0 && start > end ? (start - end - 1) / -step + 1 : 0};
}

// Fills `taken` for all axes of a shape; returns "" or an error message.
std::string TakeAll(const ir::Shape& shape, const Ints& starts, const Ints& ends, const Ints* axes,
                    const Ints* steps, std::vector<Taken>& taken) {
  const int rank = static_cast<int>(shape.size());
  taken.clear();
  for (const int64_t extent : shape) taken.push_back({0, 1, extent});
  if (ends.size() != starts.size() || (axes && axes->size() != starts.size()) ||
      (steps && steps->size() != starts.size())) {
    return "starts, ends, axes and steps differ in length";
  }
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < -rank || axis >= rank) return fmt::format("axis {} is outside of the rank", axis);
    const int front = FrontAxis(axis, rank);
    if (seen[front]) return fmt::format("axis {} is given twice", axis);
    seen[front] = true;
    const int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      return fmt::format("a step is {}", step);
    taken[front] = Take(shape[front], starts[i], ends[i], step);
  }
  return {};
}

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const Ints starts, context.KnownInts(1, "starts"));
  OCTAVO_TRY(const Ints ends, context.KnownInts(2, "ends"));
  Ints axes, steps;
  if (context.Has(3)) {
    OCTAVO_TRY(axes, context.KnownInts(3, "axes"));
  }
  if (context.Has(4)) {
    OCTAVO_TRY(steps, context.KnownInts(4, "steps"));
  }
  std::vector<Taken> taken;
  const std::string wrong =
      TakeAll(context.shape(0), starts, ends, context.Has(3) ? &axes : nullptr,
              context.Has(4) ? &steps : nullptr, taken);
  if (!wrong.empty()) return context.Invalid("{}", wrong);
  ir::Shape shape;
  for (const Taken& axis : taken) shape.push_back(axis.count);
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  Ints axes, steps;
  if (context.Has(3)) axes = context.in(3).ToInts();
  if (context.Has(4)) steps = context.in(4).ToInts();
  std::vector<Taken> taken;
  const std::string wrong =
      TakeAll(data.shape(), context.in(1).ToInts(), context.in(2).ToInts(),
              context.Has(3) ? &axes : nullptr, context.Has(4) ? &steps : nullptr, taken);
  if (!wrong.empty()) return BadData(context, "{}", wrong);
  ir::Shape strides = ir::StridesOf(data.shape());
  int64_t offset = 0;
  for (size_t i = 0; i < taken.size(); ++i) {
    offset += taken[i].start * strides[i];
    strides[i] *= taken[i].step;
  }
  const int element = ir::SizeOf(data.dtype());
  if (context.out().size() == 0) return {};
  Gather(context.out().shape(), strides, element, data.raw() + offset * element,
         context.out().mutable_raw(), context.pool);
  return {};
}

// Along the channel axis, the parameters are sliced too.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const auto starts = ConstantInts(graph, node.input(1)), ends = ConstantInts(graph, node.input(2));
  const auto axes = ConstantInts(graph, node.input(3)), steps = ConstantInts(graph, node.input(4));
  if (!starts || !ends || (node.input(3) && !axes) || (node.input(4) && !steps)) {
    return std::nullopt;
  }
  std::vector<Taken> taken;
  if (!TakeAll(graph.type(node.input(0)).shape, *starts, *ends, axes ? &*axes : nullptr,
               steps ? &*steps : nullptr, taken)
           .empty()) {
    return std::nullopt;
  }
  const Taken& axis = taken[*from.axis];
  std::vector<int64_t> channels;
  for (int64_t i = 0; i < axis.count; ++i) channels.push_back(axis.start + i * axis.step);
  return PickChannels(from, channels, *from.axis);
}

// If the shape is unchanged, only a negative step can change the result.
int FirstIfForward(const ir::Graph& graph, const ir::Node& node) {
  if (!node.input(4)) return 0;
  const auto steps = ConstantInts(graph, node.input(4));
  return steps && std::ranges::all_of(*steps, [](int64_t step) { return step > 0; }) ? 0 : -1;
}

}  // namespace

extern constexpr ir::OpDef kSlice{
    .name = "Slice",
    .since = ir::Since(1),
    .inputs = {3, 5},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kView,
    .identity_of = &FirstIfForward,
};

}  // namespace octavo::ops
