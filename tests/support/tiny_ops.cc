// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tiny_ops.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace octavo::test {
namespace {

using ir::AttrKind;
using ir::DType;
using ir::QuantRule;
using ir::Role;

Status InferSame(ir::InferContext& context) {
  context.SetResult(0, context.dtype(0), context.shape(0));
  return {};
}

Status InferPlus(ir::InferContext& context) {
  if (context.shape(0) != context.shape(1)) {
    return context.Invalid("shapes {} and {} differ", ir::ToString(context.shape(0)),
                           ir::ToString(context.shape(1)));
  }
  return InferSame(context);
}

Status InferAffine(ir::InferContext& context) {
  if (context.shape(0).size() != 2 || context.shape(1).size() != 2 ||
      context.shape(0)[1] != context.shape(1)[1]) {
    return context.Invalid("shapes {} and {} do not fit", ir::ToString(context.shape(0)),
                           ir::ToString(context.shape(1)));
  }
  context.SetResult(0, DType::kF32, {context.shape(0)[0], context.shape(1)[0]});
  return {};
}

Status InferHalves(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  if (shape.empty() || shape[0] % 2) return context.Invalid("axis 0 has no halves");
  shape[0] /= 2;
  context.SetResult(0, context.dtype(0), shape);
  context.SetResult(1, context.dtype(0), shape);
  return {};
}

Status InferShaped(ir::InferContext& context) {
  OCTAVO_TRY(const std::vector<int64_t> shape, context.KnownInts(1, "shape"));
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

Status InferReal(ir::InferContext& context) {
  context.SetResult(0, DType::kF32, context.shape(0));
  return {};
}

std::optional<ir::Quant> MapSameAxis(const ir::Graph&, const ir::Node&, int,
                                     const ir::Quant& from) {
  return from;
}

// Affine's weight is [out, in].
int RowAxis(const ir::Graph&, const ir::Node&, int) { return 0; }

constexpr ir::AttrSpec kKnobs[] = {
    {"f", AttrKind::kFloat},  {"fs", AttrKind::kFloats}, {"i", AttrKind::kInt},
    {"is", AttrKind::kInts},  {"s", AttrKind::kString},  {"ss", AttrKind::kStrings},
    {"t", AttrKind::kTensor},
};

constexpr QuantRule kSame{.kind = QuantRule::Kind::kSameScale};
constexpr QuantRule kFree{.kind = QuantRule::Kind::kFree};

constexpr ir::OpDef kMove{.name = "Move",
                          .since = ir::kNotInOnnx,
                          .quant = kSame,
                          .map_quant = &MapSameAxis,
                          .infer = &InferSame};
constexpr ir::OpDef kFreeze{
    .name = "Freeze", .since = ir::kNotInOnnx, .quant = kSame, .infer = &InferSame};
constexpr ir::OpDef kPlus{.name = "Plus",
                          .since = ir::kNotInOnnx,
                          .inputs = {2, 2},
                          .quant = kFree,
                          .infer = &InferPlus,
                          .commutative = true};
constexpr ir::OpDef kAffine{.name = "Affine",
                            .since = ir::kNotInOnnx,
                            .inputs = {2, 3},
                            .roles = ir::Roles(Role::kData, Role::kWeight, Role::kBias),
                            .quant = kFree,
                            .weight_axis = &RowAxis,
                            .infer = &InferAffine};
constexpr ir::OpDef kSine{.name = "Sine", .since = ir::kNotInOnnx, .infer = &InferSame};
constexpr ir::OpDef kHalves{.name = "Halves",
                            .since = ir::kNotInOnnx,
                            .results = {2, 2},
                            .quant = kSame,
                            .infer = &InferHalves};
constexpr ir::OpDef kShaped{.name = "Shaped",
                            .since = ir::kNotInOnnx,
                            .inputs = {2, 2},
                            .roles = ir::Roles(Role::kData, Role::kParameter),
                            .quant = kFree,
                            .infer = &InferShaped};
constexpr ir::OpDef kKnob{
    .name = "Knobs", .since = ir::kNotInOnnx, .attributes = kKnobs, .infer = &InferSame};
constexpr ir::OpDef kQuantize{.name = "Quantize",
                              .domain = "octavo",
                              .since = ir::kNotInOnnx,
                              .quant = kFree,
                              .infer = &InferReal};
constexpr ir::OpDef kDequantize{.name = "Dequantize",
                                .domain = "octavo",
                                .since = ir::kNotInOnnx,
                                .quant = kFree,
                                .infer = &InferReal};

constexpr std::array kAll = {&kMove,   &kFreeze, &kPlus, &kAffine,   &kSine,
                             &kHalves, &kShaped, &kKnob, &kQuantize, &kDequantize};

}  // namespace

const ir::OpDef* FindTinyOp(std::string_view name, std::string_view domain) {
  for (const ir::OpDef* op : kAll) {
    if (op->name == name && op->domain == domain) return op;
  }
  return nullptr;
}

ir::Graph TinyGraph(std::string_view text) {
  auto graph = text::Parse(text, {.find_op = &FindTinyOp});
  if (!graph) {
    std::fprintf(stderr, "a test's graph is wrong: %s\n", graph.error().message.c_str());
    std::abort();
  }
  return *std::move(graph);
}

}  // namespace octavo::test
