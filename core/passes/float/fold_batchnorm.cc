// SPDX-License-Identifier: Apache-2.0
// Folds per-channel scales and shifts into the weights and bias of an adjacent Conv, ConvTranspose
// or Gemm.  Computes new weights in double and rounds once.
#include <cmath>

#include "core/passes/float/channel_affine.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kFoldIntoProducer = {
    .id = "fold-batchnorm/fold-into-producer",
    .pattern = "A(Op(x, w, b))",
    .replacement = "Op(x, s*w, s*b + t)",
    .effect = Effect::kRealExact,
    .condition =
        "A is y[c] = s[c]*x[c] + t[c]: BatchNormalization, or Mul or Add with a constant; Op is "
        "Conv, ConvTranspose or Gemm with constant w and b; A is its only consumer",
};
constexpr Rule kFoldIntoConsumer = {
    .id = "fold-batchnorm/fold-into-consumer",
    .pattern = "Conv(A(x), w, b)",
    .replacement = "Conv(x, w*s, b + sum(w*t))",
    .effect = Effect::kRealExact,
    .condition =
        "A is y[c] = s[c]*x[c] + t[c]; the Conv does not pad and has constant w and b; it is the "
        "only consumer of A(x)",
};
constexpr Rule kRules[] = {kFoldIntoProducer, kFoldIntoConsumer};

// A product whose weights can absorb a scale per output channel.
struct Product {
  ir::Tensor weight = {};
  std::vector<double> bias = {};  // one per output channel; zeros without a bias
  // The output channel of weight element k is
  //   (k / inner) % count, plus count * (k / group_elements) if groups have separate weights.
  int64_t inner = 1, count = 1, group_elements = 0;

  int64_t ChannelOf(int64_t k) const {
    const int64_t channel = k / inner % count;
    return group_elements > 0 ? channel + count * (k / group_elements) : channel;
  }
};

bool IsProduct(const Node& node) {
  return Is(node, "Conv") || Is(node, "ConvTranspose") || Is(node, "Gemm");
}

bool ReadBias(const Graph& graph, const Node& node, Product& product) {
  if (!node.input(2)) return true;
  const ir::Tensor* bias = ConstantOf(graph, node.input(2));
  const int64_t channels = static_cast<int64_t>(product.bias.size());
  if (bias == nullptr || bias->dtype() != ir::DType::kF32) return false;
  const bool single = bias->size() == 1;
  if (!single && (bias->size() != channels || bias->shape().back() != channels)) return false;
  for (int64_t c = 0; c < channels; ++c) product.bias[c] = bias->FloatAt(single ? 0 : c);
  return true;
}

std::optional<Product> ProductOf(const Graph& graph, const Node& node) {
  const ir::Tensor* weight = ConstantOf(graph, node.input(1));
  if (weight == nullptr || weight->dtype() != ir::DType::kF32) return std::nullopt;
  Product product{.weight = *weight};
  const ir::Shape& shape = weight->shape();
  const ir::Shape strides = ir::StridesOf(shape);
  size_t axis = 0;
  if (Is(node, "ConvTranspose")) {
    const int64_t groups = node.attributes.Int("group", 1);
    axis = 1;
    if (groups > 1) product.group_elements = weight->size() / groups;
  } else if (Is(node, "Gemm")) {
    if (node.attributes.Float("beta", 1) != 1) return std::nullopt;
    axis = node.attributes.Int("transB", 0) ? 0 : 1;
  }
  product.inner = strides[axis];
  product.count = shape[axis];
  product.bias.assign(graph.type(node.result()).shape[1], 0.0);
  if (!ReadBias(graph, node, product)) return std::nullopt;
  return product;
}

ir::Tensor VectorOf(const std::vector<double>& values) {
  ir::Tensor tensor(ir::DType::kF32, {static_cast<int64_t>(values.size())});
  for (size_t c = 0; c < values.size(); ++c) {
    tensor.mutable_values<float>()[c] = static_cast<float>(values[c]);
  }
  return tensor;
}

bool AllFinite(const ir::Tensor& tensor) {
  for (const float x : tensor.values<float>()) {
    if (!std::isfinite(x)) return false;
  }
  return true;
}

// Stores `values` in the product's own bias constant, else in the shift's, else in a new one.
ValueId BiasConstant(Graph& graph, ValueId own, ValueId shift, const std::vector<double>& values,
                     std::string_view product) {
  if (own) return ChangeConstant(graph, own, VectorOf(values));
  if (shift && graph.CountUses(shift) == 1) return ChangeConstant(graph, shift, VectorOf(values));
  return AddConstant(graph, fmt::format("{}.bias", product), VectorOf(values));
}

bool IntoProduct(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  const ValueId y = node.input(0);
  const Node* producer = y ? graph.Producer(y) : nullptr;
  if (producer == nullptr || !IsProduct(*producer)) return false;
  const auto affine = ChannelAffineOf(graph, node, 1);
  if (!affine) return false;
  const auto keep = [&](std::string reason) {
    context.Keep(node.name, std::move(reason));
    return false;
  };
  if (graph.CountUses(y) != 1) {
    return keep(fmt::format("'{}' has other consumers, so '{}' would be computed twice",
                            graph.name(y), producer->name));
  }
  std::optional<Product> product = ProductOf(graph, *producer);
  if (!product)
    return keep(fmt::format("weights or bias of '{}' are not constant", producer->name));
  if (!context.Allows(kFoldIntoProducer.effect))
    return keep("the effect real-exact exceeds the limit exact");

  ir::Tensor weight = product->weight.Clone();
  const auto values = weight.mutable_values<float>();
  for (int64_t k = 0; affine->scales && k < weight.size(); ++k) {
    values[k] = static_cast<float>(values[k] * affine->scale[product->ChannelOf(k)]);
  }
  for (size_t c = 0; c < product->bias.size(); ++c) {
    product->bias[c] = product->bias[c] * affine->scale[c] + affine->shift[c];
  }
  if (!AllFinite(weight) || !AllFinite(VectorOf(product->bias))) {
    return keep("the folded weights would not be finite");
  }
  const NodeId producer_id = graph.value(y).producer;
  context.Applied(kFoldIntoProducer, node.name, {graph.name(y), graph.name(node.result())});
  ValueId w = producer->input(1), b = producer->input(2);
  if (affine->scales) w = ChangeConstant(graph, w, std::move(weight));
  if (b || affine->shifts) {
    b = BiasConstant(graph, b, affine->shift_constant, product->bias,
                     graph.name(graph.node(id).result()));
  }
  const Node& before = graph.node(producer_id);
  const std::vector<std::string> origin = before.origin;
  graph.AddOrigin(id, origin);
  graph.Redefine(id, before.op, {before.input(0), w, b}, before.attributes);
  graph.Erase(producer_id);
  return true;
}

// ---------------------------------------------------------------- into the next Conv

bool PadsNothing(const Node& conv) {
  const std::string automatic = conv.attributes.String("auto_pad", "NOTSET");
  if (automatic == "VALID") return true;
  if (automatic != "NOTSET") return false;
  for (const int64_t pad : conv.attributes.Ints("pads")) {
    if (pad != 0) return false;
  }
  return true;
}

bool IntoNext(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  const auto affine = ChannelAffineOf(graph, node, 1);
  if (!affine || graph.CountUses(node.result()) != 1 || graph.IsOutput(node.result())) return false;
  const NodeId conv_id = graph.value(node.result()).uses[0].node;
  const Node& conv = graph.node(conv_id);
  if (!Is(conv, "Conv") || graph.value(node.result()).uses[0].input != 0) return false;
  const auto keep = [&](std::string reason) {
    context.Keep(node.name, std::move(reason));
    return false;
  };
  if (!PadsNothing(conv)) {
    return keep(fmt::format("'{}' pads with zeros, which the shift would change", conv.name));
  }
  std::optional<Product> product = ProductOf(graph, conv);
  if (!product) return keep(fmt::format("weights or bias of '{}' are not constant", conv.name));
  if (!context.Allows(kFoldIntoConsumer.effect))
    return keep("the effect real-exact exceeds the limit exact");

  ir::Tensor weight = product->weight.Clone();
  const auto values = weight.mutable_values<float>();
  const int64_t in = weight.shape()[1], kernel = product->inner / in;
  const int64_t out_per_group = product->count / conv.attributes.Int("group", 1);
  for (int64_t k = 0; k < weight.size(); ++k) {
    const int64_t channel = k / product->inner;
    const int64_t source = channel / out_per_group * in + k / kernel % in;
    product->bias[channel] += values[k] * affine->shift[source];
    values[k] = static_cast<float>(values[k] * affine->scale[source]);
  }
  if (!AllFinite(weight) || !AllFinite(VectorOf(product->bias))) {
    return keep("the folded weights would not be finite");
  }
  context.Applied(kFoldIntoConsumer, node.name,
                  {graph.name(node.result()), graph.name(conv.result())});
  const ValueId x = node.input(0);
  ValueId w = conv.input(1), b = conv.input(2);
  if (affine->scales) w = ChangeConstant(graph, w, std::move(weight));
  if (b || affine->shifts) {
    b = BiasConstant(graph, b, {}, product->bias, graph.name(graph.node(conv_id).result()));
  }
  const std::vector<std::string> origin = graph.node(id).origin;
  graph.AddOrigin(conv_id, origin);
  graph.Redefine(conv_id, graph.node(conv_id).op, {x, w, b}, graph.node(conv_id).attributes);
  graph.Erase(id);
  return true;
}

Status Run(Graph& graph, Context& context) {
  for (const NodeId id : graph.nodes()) IntoProduct(graph, id, context);
  // In reverse order: the map adjacent to a Conv folds first, which makes the one before it
  // adjacent.
  std::vector<NodeId> order;
  for (const NodeId id : graph.nodes()) order.push_back(id);
  for (size_t i = order.size(); i-- > 0;) IntoNext(graph, order[i], context);
  graph.EraseDead();
  return {};
}

}  // namespace

const Pass kFoldBatchnormPass = {
    .name = "fold-batchnorm",
    .phase = Phase::kPrepare,
    .postcondition =
        "no Conv, ConvTranspose or Gemm with constant weights is followed by a per-channel scale "
        "or shift",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
