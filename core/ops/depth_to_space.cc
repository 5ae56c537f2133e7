// DepthToSpace(input) {blocksize, mode}: moves channels into b x b blocks of pixels.
//   DCR: channel = (row in block * b + column in block) * C' + c     CRD: channel = c * b * b + ...
#include "core/ops/data_op.h"
#include "core/ops/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"blocksize", ir::AttrKind::kInt, true},
                                        {"mode", ir::AttrKind::kString}};

Status Infer(ir::InferContext& context) {
  const ir::Shape& x = context.shape(0);
  const int64_t b = context.node().attributes.Int("blocksize", 0);
  const std::string mode = context.node().attributes.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return context.Invalid("unknown mode '{}'", mode).Field("mode");
  if (x.size() != 4) return context.Invalid("input has rank {}, but must have 4", x.size());
  if (b < 1 || b > (1 << 20) || x[1] % (b * b) != 0) {
    return context.Invalid("{} channels do not divide into blocks of {}x{}", x[1], b, b);
  }
  context.SetResult(0, context.dtype(0), {x[0], x[1] / (b * b), x[2] * b, x[3] * b});
  return {};
}

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t b = context.node.attributes.Int("blocksize", 1);
  const bool depth_first = context.node.attributes.String("mode", "DCR") == "DCR";
  const int64_t h = x.shape()[2], w = x.shape()[3], channels = x.shape()[1] / (b * b);
  const int64_t plane = h * w;
  const int64_t in_block = depth_first ? channels * plane : plane;
  const int64_t channel = depth_first ? plane : b * b * plane;
  Gather({x.shape()[0], channels, h, b, w, b},
         {x.shape()[1] * plane, channel, w, b * in_block, 1, in_block}, ir::SizeOf(x.dtype()),
         x.raw(), context.out().mutable_raw(), context.pool);
  return {};
}

// Channels that meet in one result channel must agree; rows and columns repeat b times.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor() || *from.axis == 0) return from;
  const int64_t b = node.attributes.Int("blocksize", 1);
  const int64_t extent = graph.type(node.result()).shape[*from.axis];
  std::vector<int64_t> picked(extent);
  if (*from.axis >= 2) {
    for (int64_t i = 0; i < extent; ++i) picked[i] = i / b;
    return PickChannels(from, picked, *from.axis);
  }
  const bool depth_first = node.attributes.String("mode", "DCR") == "DCR";
  for (int64_t c = 0; c < extent; ++c) picked[c] = depth_first ? c : c * b * b;
  for (int64_t i = 0; i < extent * b * b; ++i) {
    const int64_t first = picked[depth_first ? i % extent : i / (b * b)];
    if (from.scale(i) != from.scale(first) || from.zero_point(i) != from.zero_point(first)) {
      return std::nullopt;
    }
  }
  return PickChannels(from, picked, 1);
}

}  // namespace

extern constexpr ir::OpDef kDepthToSpace{
    .name = "DepthToSpace",
    .attributes = kAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kSameAsInput},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSunk,
                .at_output = ir::RescaleRule::AtOutput::kRaised},
    .map_quant = &MapQuant,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
