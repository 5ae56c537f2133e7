// SPDX-License-Identifier: Apache-2.0
// Where(condition, x, y): x where the condition is true, else y; all three broadcast.
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  if (context.dtype(0) != ir::DType::kBool) {
    return context.Invalid("condition is {}, but must be bool", Name(context.dtype(0)));
  }
  if (context.dtype(1) != context.dtype(2)) {
    return context.Invalid("x is {} and y is {}, but both must have one type",
                           Name(context.dtype(1)), Name(context.dtype(2)));
  }
  auto shape = Broadcast(context.shape(1), context.shape(2));
  if (shape) shape = Broadcast(context.shape(0), *shape);
  if (!shape) {
    return context.Invalid("shapes {}, {} and {} do not broadcast", ir::ToString(context.shape(0)),
                           ir::ToString(context.shape(1)), ir::ToString(context.shape(2)));
  }
  context.SetResult(0, context.dtype(1), *shape);
  return {};
}

template <class T>
void Choose(const ir::Tensor& condition, const ir::Tensor& x, const ir::Tensor& y,
            ir::Tensor& result) {
  const auto chosen = condition.values<uint8_t>();
  const auto from_x = x.values<T>(), from_y = y.values<T>();
  const auto to = result.mutable_values<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = chosen[i] ? from_x[i] : from_y[i];
}

Status Definition(const ir::EvalContext& context) {
  ir::Tensor& result = context.out();
  const ir::Tensor condition = BroadcastTo(context.in(0), result.shape(), context.pool);
  const ir::Tensor x = BroadcastTo(context.in(1), result.shape(), context.pool);
  const ir::Tensor y = BroadcastTo(context.in(2), result.shape(), context.pool);
  switch (ir::SizeOf(result.dtype())) {
    case 1:
      return Choose<uint8_t>(condition, x, y, result), Status();
    case 2:
      return Choose<uint16_t>(condition, x, y, result), Status();
    case 4:
      return Choose<uint32_t>(condition, x, y, result), Status();
    default:
      return Choose<uint64_t>(condition, x, y, result), Status();
  }
}

// Both branches must have the same channels along the same axis, counted from the end, and the
// broadcast must not repeat them.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int input,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const ir::Type& own = graph.type(node.input(input));
  const ir::Shape& result = graph.type(node.result()).shape;
  const int axis = *from.axis + static_cast<int>(result.size() - own.shape.size());
  if (own.shape[*from.axis] != result[axis]) return std::nullopt;
  return OnAxis(from, axis);
}

// The operand that a constant condition selects everywhere.
int SelectedInput(const ir::Graph& graph, const ir::Node& node) {
  const ir::ValueId condition = node.input(0);
  if (!condition || !graph.IsConstant(condition)) return -1;
  const ir::Tensor& tensor = graph.value(condition).constant->tensor;
  if (tensor.size() == 0) return -1;
  const auto answers = tensor.values<bool>();
  if (std::ranges::count(answers, answers[0]) != tensor.size()) return -1;
  return answers[0] ? 1 : 2;
}

}  // namespace

extern constexpr ir::OpDef kWhere{
    .name = "Where",
    .since = ir::Since(9),
    .inputs = {3, 3},
    .roles = ir::Roles(ir::Role::kParameter, ir::Role::kData),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
    .identity_of = &SelectedInput,
};

}  // namespace octavo::ops
