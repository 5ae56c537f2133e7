// SPDX-License-Identifier: Apache-2.0
// Moves channels to and from b x b blocks of pixels.
//   DepthToSpace(input) {blocksize, mode}
//     DCR: channel = (row in block * b + column in block) * C' + c
//     CRD: channel = c * b * b + row in block * b + column in block
//   SpaceToDepth(input) {blocksize}: the inverse of DCR
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

// ---------------------------------------------------------------- DepthToSpace

constexpr ir::AttrSpec kDepthToSpaceAttributes[] = {{"blocksize", ir::AttrKind::kInt, true},
                                                    {"mode", ir::AttrKind::kString}};

Status InferDepthToSpace(ir::InferContext& context) {
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

Status DepthToSpace(const ir::EvalContext& context) {
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

// Channels that share a result channel must agree; rows and columns repeat b times.
std::optional<ir::Quant> MapDepthToSpace(const ir::Graph& graph, const ir::Node& node, int,
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

// ---------------------------------------------------------------- SpaceToDepth

constexpr ir::AttrSpec kSpaceToDepthAttributes[] = {{"blocksize", ir::AttrKind::kInt, true}};

Status InferSpaceToDepth(ir::InferContext& context) {
  const ir::Shape& x = context.shape(0);
  const int64_t b = context.node().attributes.Int("blocksize", 0);
  if (x.size() != 4) return context.Invalid("input has rank {}, but must have 4", x.size());
  if (b < 1 || b > (1 << 20) || x[2] % b != 0 || x[3] % b != 0) {
    return context.Invalid("{}x{} pixels do not divide into blocks of {}x{}", x[2], x[3], b, b);
  }
  context.SetResult(0, context.dtype(0), {x[0], x[1] * b * b, x[2] / b, x[3] / b});
  return {};
}

Status SpaceToDepth(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t b = context.node.attributes.Int("blocksize", 1);
  const int64_t c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  Gather({x.shape()[0], b, b, c, h / b, w / b}, {c * h * w, w, 1, h * w, b * w, b},
         ir::SizeOf(x.dtype()), x.raw(), context.out().mutable_raw(), context.pool);
  return {};
}

// Channels repeat for each pixel of a block; rows and columns that share a result index must agree.
std::optional<ir::Quant> MapSpaceToDepth(const ir::Graph& graph, const ir::Node& node, int,
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

extern constexpr ir::OpDef kDepthToSpace{
    .name = "DepthToSpace",
    .since = ir::Since(1),
    .attributes = kDepthToSpaceAttributes,
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapDepthToSpace,
    .infer = &InferDepthToSpace,
    .definition = &DepthToSpace,
    .moves_data = ir::Movement::kCopy,
};
extern constexpr ir::OpDef kSpaceToDepth{
    .name = "SpaceToDepth",
    .since = ir::Since(1),
    .attributes = kSpaceToDepthAttributes,
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapSpaceToDepth,
    .infer = &InferSpaceToDepth,
    .definition = &SpaceToDepth,
    .moves_data = ir::Movement::kCopy,
};

}  // namespace octavo::ops
