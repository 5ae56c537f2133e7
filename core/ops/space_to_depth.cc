// SpaceToDepth(input) {blocksize}: moves b x b blocks of pixels into channels;
// channel = (row in block * b + column in block) * C + c.
#include "core/ops/data_op.h"
#include "core/ops/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"blocksize", ir::AttrKind::kInt, true}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& x = context.shape(0);
  const int64_t b = context.node().attributes.Int("blocksize", 0);
  if (x.size() != 4) return context.Invalid("input has rank {}, but must have 4", x.size());
  if (b < 1 || b > (1 << 20) || x[2] % b != 0 || x[3] % b != 0) {
    return context.Invalid("{}x{} pixels do not divide into blocks of {}x{}", x[2], x[3], b, b);
  }
  context.SetResult(0, context.dtype(0), {x[0], x[1] * b * b, x[2] / b, x[3] / b});
  return {};
}

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t b = context.node.attributes.Int("blocksize", 1);
  const int64_t c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  Gather({x.shape()[0], b, b, c, h / b, w / b}, {c * h * w, w, 1, h * w, b * w, b},
         ir::SizeOf(x.dtype()), x.raw(), context.out().mutable_raw(), context.pool);
  return {};
}

// Channels repeat for each pixel of a block; rows and columns that meet must agree.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor() || *from.axis == 0) return from;
  const ir::Shape& x = graph.type(node.input(0)).shape;
  const int64_t b = node.attributes.Int("blocksize", 1);
  std::vector<int64_t> picked(graph.type(node.result()).shape[*from.axis]);
  const auto count = static_cast<int64_t>(picked.size());
  if (*from.axis == 1) {
    for (int64_t i = 0; i < count; ++i) picked[i] = i % x[1];
    return PickChannels(from, picked, 1);
  }
  for (int64_t i = 0; i < count * b; ++i) {
    picked[i / b] = i / b * b;
    const int64_t first = picked[i / b];
    if (from.scale(i) != from.scale(first) || from.zero_point(i) != from.zero_point(first)) {
      return std::nullopt;
    }
  }
  return PickChannels(from, picked, *from.axis);
}

}  // namespace

extern constexpr ir::OpDef kSpaceToDepth{
    .name = "SpaceToDepth",
    .attributes = kAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &MapQuant,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
