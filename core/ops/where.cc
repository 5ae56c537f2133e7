// Where(condition, x, y): x where the condition holds, else y; all three broadcast.
#include "core/ops/data_op.h"
#include "core/ops/strided_copy.h"

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

Status Reference(const ir::EvalContext& context) {
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

// Counted from the last axis both branches must have the same channels, none of them repeated.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int input,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const ir::Type& own = graph.type(node.input(input));
  const ir::Shape& result = graph.type(node.result()).shape;
  const int axis = *from.axis + static_cast<int>(result.size() - own.shape.size());
  if (own.shape[*from.axis] != result[axis]) return std::nullopt;
  return OnAxis(from, axis);
}

}  // namespace

extern constexpr ir::OpDef kWhere{
    .name = "Where",
    .inputs = {3, 3},
    .roles = ir::Roles(ir::Role::kParameter, ir::Role::kData),
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &MapQuant,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
