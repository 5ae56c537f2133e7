// SPDX-License-Identifier: Apache-2.0
// Replaces ops that the target does not run by ops that it runs.  decompose-gemm also handles a
// bias that is not constant or differs by row, which no integer Gemm supports.  A target's `keep`
// and --keep-float (which names ops of the model) disable a rule for the op that it matches.  No
// profile contains the values that lowering creates: their ranges are derived from adjacent values.
#include <algorithm>

#include "core/ir/infer.h"
#include "core/ir/output_channels.h"
#include "core/passes/float/channel_affine.h"
#include "core/passes/float/decompose.h"
#include "core/passes/float/lower_conv.h"
#include "core/passes/passes.h"
#include "core/passes/quantize/float_choice.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::ValueId;

constexpr Rule kDecomposeBatchnorm = {
    .id = "lower/decompose-batchnorm",
    .pattern = "BatchNormalization(x)",
    .replacement = "Add(Mul(x, s), t)",
    .effect = Effect::kRealExact,
    .condition = "constant parameters that fold-batchnorm could not fold",
};
constexpr Rule kDecomposeSum = {
    .id = "lower/decompose-sum",
    .pattern = "Sum(a, b, c)",
    .replacement = "Add(Add(a, b), c)",
    .effect = Effect::kExact,
};
constexpr Rule kDecomposeMean = {
    .id = "lower/decompose-mean",
    .pattern = "Mean(a, b)",
    .replacement = "Mul(Add(a, b), 1/n)",
    .effect = Effect::kRealExact,
};
constexpr Rule kFuseMatmulBias = {
    .id = "lower/fuse-matmul-bias",
    .pattern = "Add(MatMul(a, w), b)",
    .replacement = "Gemm(a, w, b)",
    .effect = Effect::kRealExact,
    .condition =
        "a and w are matrices, b is a constant row; the MatMul has one consumer; the target does "
        "not lower Gemm; --keep-float names neither op",
};
constexpr Rule kDecomposeGemmTransA = {
    .id = "lower/decompose-gemm-trans-a",
    .pattern = "Gemm{transA}(a, w, b)",
    .replacement = "Gemm(Transpose(a), w, b)",
    .effect = Effect::kExact,
};
constexpr Rule kFoldGemmFactors = {
    .id = "lower/fold-gemm-factors",
    .pattern = "Gemm{alpha, beta}(a, w, b)",
    .replacement = "Gemm(a, alpha*w, beta*b)",
    .effect = Effect::kRealExact,
    .condition = "w and b are constant",
};
constexpr Rule kDecomposeGemm = {
    .id = "lower/decompose-gemm",
    .pattern = "Gemm(a, w, b)",
    .replacement = "Add(MatMul(a, w), b)",
    .effect = Effect::kRealExact,
    .condition =
        "the target lowers Gemm and w is constant, or b is not one constant value per column; "
        "alpha and beta are 1",
};
constexpr Rule kRules[] = {kDecomposeBatchnorm,
                           kDecomposeSum,
                           kDecomposeMean,
                           kFuseMatmulBias,
                           kDecomposeGemmTransA,
                           kFoldGemmFactors,
                           kDecomposeGemm,
                           kConvToGemm,
                           kDecomposeSwish,
                           kDecomposeHardSigmoid,
                           kReduceMeanToGlobalAveragePool};

// Whether a rule that matches `op` may run at all.
bool Wanted(const Context& context, const Rule& rule, std::string_view op) {
  return context.Allows(rule.effect) && !context.settings().target.Keeps(op);
}

// Inserts a new node before `position` with one result, named `name` or a unique variant of it.
ValueId Insert(Graph& graph, NodeId position, std::string_view name, std::string_view op,
               std::vector<ValueId> inputs, ir::Type type, ir::AttrMap attributes = {}) {
  const std::vector<std::string> origin = graph.node(position).origin;
  const NodeId id = graph.InsertBefore(position, {.op = Op(op),
                                                  .inputs = std::move(inputs),
                                                  .attributes = std::move(attributes),
                                                  .results = {{graph.UniqueName(name), type}},
                                                  .origin = origin});
  return graph.node(id).result();
}

Tensor ChannelsOf(const std::vector<double>& values, size_t rank) {
  ir::Shape shape(rank, 1);
  shape[1] = static_cast<int64_t>(values.size());
  Tensor tensor(ir::DType::kF32, shape);
  for (size_t c = 0; c < values.size(); ++c) {
    tensor.mutable_values<float>()[c] = static_cast<float>(values[c]);
  }
  return tensor;
}

bool Batchnorm(Graph& graph, NodeId id, Context& context, const ValueRanges& ranges) {
  const Node& node = graph.node(id);
  if (!Is(node, "BatchNormalization") || node.results.size() != 1 ||
      !Wanted(context, kDecomposeBatchnorm, "BatchNormalization")) {
    return false;
  }
  const auto affine = ChannelAffineOf(graph, node, 1);
  if (!affine) {
    context.Keep(node.name, "its parameters are not constant");
    return false;
  }
  const std::string name = graph.name(node.result());
  const ir::Type type = graph.type(node.result());
  const ValueId x = node.input(0);
  context.Applied(kDecomposeBatchnorm, node.name, {name});
  const ValueId s =
      AddConstant(graph, name + ".scale", ChannelsOf(affine->scale, type.shape.size()));
  const ValueId t =
      AddConstant(graph, name + ".shift", ChannelsOf(affine->shift, type.shape.size()));
  const ValueId scaled = Insert(graph, id, name + ".scaled", "Mul", {x, s}, type);
  DeriveRange(context, graph.name(scaled),
              Minus(KnownRange(graph, context, ranges, graph.node(id).result()),
                    KnownRange(graph, context, ranges, t)));
  Recompute(graph, id, "Add", {scaled, t}, {});
  return true;
}

// Decomposes a Sum or Mean of several operands: a chain of Adds with new names; the last step keeps
// the old name.
bool SumOrMean(Graph& graph, NodeId id, Context& context, const ValueRanges& ranges) {
  const Node& node = graph.node(id);
  const bool mean = Is(node, "Mean");
  const Rule& rule = mean ? kDecomposeMean : kDecomposeSum;
  if ((!mean && !Is(node, "Sum")) || node.inputs.size() < 2 ||
      !Wanted(context, rule, node.op->name)) {
    return false;
  }
  const std::vector<ValueId> inputs = node.inputs;
  const std::string name = graph.name(node.result());
  context.Applied(rule, node.name, {name});
  const size_t inserted = inputs.size() - (mean ? 1 : 2);
  ValueId sum = inputs[0];
  std::optional<ir::Range> range = KnownRange(graph, context, ranges, sum);
  for (size_t i = 1; i <= inserted; ++i) {
    const auto types = ir::InferNode(graph, *Op("Add"), name, {sum, inputs[i]}, {});
    sum = Insert(graph, id, fmt::format("{}.sum", name), "Add", {sum, inputs[i]}, (*types)[0]);
    range = Plus(range, KnownRange(graph, context, ranges, inputs[i]));
    DeriveRange(context, graph.name(sum), range);
  }
  if (!mean) {
    Recompute(graph, id, "Add", {sum, inputs.back()}, {});
    return true;
  }
  const float factor = static_cast<float>(1.0 / static_cast<double>(inputs.size()));
  const ValueId c = AddConstant(graph, name + ".factor", Tensor::Scalar(factor));
  Recompute(graph, id, "Mul", {sum, c}, {});
  return true;
}

bool MatmulBias(Graph& graph, NodeId id, const FloatChoice& choice, Context& context) {
  const Node& node = graph.node(id);
  if (!Is(node, "Add") || context.settings().target.Lowers("Gemm") ||
      !Wanted(context, kFuseMatmulBias, "MatMul")) {
    return false;
  }
  const Node* matmul = ProducerIs(graph, node.input(0), "MatMul");
  const Tensor* bias = ConstantOf(graph, node.input(1));
  if (matmul == nullptr || bias == nullptr || bias->dtype() != ir::DType::kF32) return false;
  const ir::Shape& shape = graph.type(node.result()).shape;
  if (graph.type(matmul->input(0)).shape.size() != 2 || shape.size() != 2 ||
      graph.type(matmul->input(1)).shape.size() != 2 || graph.type(node.input(0)).shape != shape ||
      bias->size() != shape[1] || bias->rank() == 0 || bias->shape().back() != shape[1]) {
    return false;
  }
  if (choice.IsRequested(graph, *matmul)) return false;
  if (graph.CountUses(node.input(0)) != 1) {
    context.Keep(node.name, fmt::format("'{}' has other consumers, so '{}' would be computed twice",
                                        graph.name(node.input(0)), matmul->name));
    return false;
  }
  context.Applied(kFuseMatmulBias, node.name,
                  {graph.name(node.input(0)), graph.name(node.result())});
  const NodeId matmul_id = graph.value(node.input(0)).producer;
  ValueId b = node.input(1);
  if (bias->rank() != 1) b = ChangeConstant(graph, b, bias->Reshaped({shape[1]}));
  matmul = &graph.node(matmul_id);
  Recompute(graph, id, "Gemm", {matmul->input(0), matmul->input(1), b}, {}, {matmul});
  graph.Erase(matmul_id);
  return true;
}

bool GemmTransA(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!Is(node, "Gemm") || node.attributes.Int("transA", 0) == 0 ||
      !Wanted(context, kDecomposeGemmTransA, "Gemm")) {
    return false;
  }
  const ValueId a = node.input(0);
  ir::Type type = graph.type(a);
  std::swap(type.shape[0], type.shape[1]);
  context.Applied(kDecomposeGemmTransA, node.name);
  const std::string name = graph.name(node.result()) + ".transposed";
  const ValueId transposed =
      Insert(graph, id, name, "Transpose", {a}, type, {{"perm", std::vector<int64_t>{1, 0}}});
  graph.SetInput(id, 0, transposed);
  ir::AttrMap attributes = graph.node(id).attributes;
  attributes.Erase("transA");
  graph.Redefine(id, Op("Gemm"), graph.node(id).inputs, std::move(attributes));
  return true;
}

Tensor Scaled(const Tensor& tensor, double factor) {
  Tensor scaled = tensor.Clone();
  for (float& x : scaled.mutable_values<float>()) x = static_cast<float>(x * factor);
  return scaled;
}

bool GemmFactors(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!Is(node, "Gemm") || !Wanted(context, kFoldGemmFactors, "Gemm")) return false;
  const float alpha = node.attributes.Float("alpha", 1), beta = node.attributes.Float("beta", 1);
  if (alpha == 1 && (beta == 1 || !node.input(2))) return false;
  const auto is_float = [](const Tensor* tensor) {
    return tensor != nullptr && tensor->dtype() == ir::DType::kF32;
  };
  const Tensor* weight = ConstantOf(graph, node.input(1));
  const Tensor* bias = ConstantOf(graph, node.input(2));
  if (!is_float(weight) || (node.input(2) && !is_float(bias))) {
    context.Keep(node.name, "alpha and beta can only be folded into constant operands");
    return false;
  }
  context.Applied(kFoldGemmFactors, node.name);
  std::vector<ValueId> inputs = node.inputs;
  ir::AttrMap attributes = node.attributes;
  attributes.Erase("alpha");
  attributes.Erase("beta");
  if (alpha != 1) inputs[1] = ChangeConstant(graph, inputs[1], Scaled(*weight, alpha));
  if (bias && beta != 1) inputs[2] = ChangeConstant(graph, inputs[2], Scaled(*bias, beta));
  graph.Redefine(id, Op("Gemm"), std::move(inputs), std::move(attributes));
  return true;
}

Tensor Transposed(const Tensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  Tensor transposed(matrix.dtype(), {columns, rows});
  const auto from = matrix.values<float>();
  const auto to = transposed.mutable_values<float>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
  return transposed;
}

// Whether the Gemm must be decomposed: the target has no Gemm, or no integer Gemm with such a bias.
bool MustGo(const Graph& graph, const Node& node, const Settings& settings) {
  if (settings.target.Lowers("Gemm")) return true;
  if (!node.input(2) || settings.options.no_quantize || settings.profile == nullptr) return false;
  return !graph.IsConstant(node.input(2)) || !ir::HasPlainBias(graph, node);
}

bool Gemm(Graph& graph, NodeId id, Context& context, const ValueRanges& ranges) {
  const Node& node = graph.node(id);
  if (!Is(node, "Gemm") || graph.type(node.result()).dtype != ir::DType::kF32 ||
      !Wanted(context, kDecomposeGemm, "Gemm") || !MustGo(graph, node, context.settings())) {
    return false;
  }
  const Tensor* weight = ConstantOf(graph, node.input(1));
  const bool transposed = node.attributes.Int("transB", 0) != 0;
  if ((transposed && (weight == nullptr || weight->dtype() != ir::DType::kF32)) ||
      node.attributes.Float("alpha", 1) != 1 || node.attributes.Float("beta", 1) != 1 ||
      node.attributes.Int("transA", 0) != 0) {
    context.Keep(node.name,
                 "MatMul has neither alpha, beta nor transA, and transB needs constant weights");
    return false;
  }
  const std::string name = graph.name(node.result());
  const ir::Type type = graph.type(node.result());
  context.Applied(kDecomposeGemm, node.name, {name});
  const ValueId a = node.input(0), b = node.input(2);
  ValueId w = node.input(1);
  if (transposed) w = ChangeConstant(graph, w, Transposed(*weight));
  if (!b) {
    Recompute(graph, id, "MatMul", {a, w}, {});
    return true;
  }
  const ValueId product = Insert(graph, id, name + ".product", "MatMul", {a, w}, type);
  DeriveRange(context, graph.name(product),
              Minus(KnownRange(graph, context, ranges, graph.node(id).result()),
                    KnownRange(graph, context, ranges, b)));
  Recompute(graph, id, "Add", {product, b}, {});
  return true;
}

// Warns of ops that the target wanted lowered but that no rule could lower.
void WarnOfUnlowered(const Graph& graph, Context& context) {
  const target::Target& target = context.settings().target;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!target.Lowers(node.op->name)) continue;
    context.Warn("not_lowered",
                 fmt::format("target {} lowers {}, but no rule matches '{}'", target.name,
                             node.op->name, node.name),
                 node.name);
  }
}

Status Run(Graph& graph, Context& context) {
  const ValueRanges ranges(graph, context.settings(), context.findings());
  OCTAVO_TRY(const FloatChoice choice, FloatChoice::Of(graph, context.settings()));
  for (const NodeId id : graph.nodes()) LowerConv(graph, id, choice, context, ranges);
  for (const NodeId id : graph.nodes()) {
    if (choice.IsRequested(graph, graph.node(id))) continue;
    Batchnorm(graph, id, context, ranges);
    SumOrMean(graph, id, context, ranges);
    MatmulBias(graph, id, choice, context);
    GemmTransA(graph, id, context);
    GemmFactors(graph, id, context);
    Gemm(graph, id, context, ranges);
    LowerSwish(graph, id, context, ranges);
    LowerHardSigmoid(graph, id, context, ranges);
    LowerMean(graph, id, context, ranges);
  }
  graph.EraseDead();
  WarnOfUnlowered(graph, context);
  return {};
}

}  // namespace

const Pass kLowerPass = {
    .name = "lower",
    .phase = Phase::kLower,
    .postcondition = "the target runs every op, as far as a rule exists",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
