// SPDX-License-Identifier: Apache-2.0
#include "core/passes/float/lower_conv.h"

#include <algorithm>

#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::Type;
using ir::ValueId;
using Ints = std::vector<int64_t>;

// "" if every output element is the product of one pixel's channels with weights; else the reason.
std::string WhyNot(const Graph& graph, const Node& node) {
  const ir::Shape& x = graph.type(node.input(0)).shape;
  const Tensor* weight = ConstantOf(graph, node.input(1));
  if (weight == nullptr || weight->dtype() != ir::DType::kF32)
    return "its weights are not constant";
  if (x.size() != 4) return "it does not have two spatial axes";
  if (node.attributes.Int("group", 1) != 1) return "it has several groups";
  const auto all = [](const Ints& values, int64_t value) {
    return std::ranges::all_of(values, [&](int64_t each) { return each == value; });
  };
  if (weight->shape()[2] != 1 || weight->shape()[3] != 1) return "its kernel is larger than 1x1";
  if (!all(node.attributes.Ints("strides"), 1)) return "its strides are not 1";
  const ir::Shape& y = graph.type(node.result()).shape;
  if (y[2] != x[2] || y[3] != x[3] || !all(node.attributes.Ints("pads"), 0))
    return "it has padding";
  return {};
}

// Adds data movement nodes for x before `position`.
class Mover {
 public:
  Mover(Graph& graph, NodeId position, std::string name)
      : graph_(graph),
        position_(position),
        name_(std::move(name)),
        origin_(graph.node(position).origin) {}

  ValueId Transposed(ValueId x, const Ints& perm, std::string_view suffix) {
    ir::Shape shape;
    for (const int64_t axis : perm) shape.push_back(graph_.type(x).shape[axis]);
    return Add(suffix, "Transpose", {x}, std::move(shape), {{"perm", perm}});
  }
  ValueId Reshaped(ValueId x, const ir::Shape& shape, std::string_view suffix) {
    const ValueId target = AddConstant(graph_, name_ + ".shape", Tensor::Ints(shape));
    return Add(suffix, "Reshape", {x, target}, shape, {});
  }
  ValueId Add(std::string_view suffix, std::string_view op, std::vector<ValueId> inputs,
              ir::Shape shape, ir::AttrMap attributes) {
    const Type type{ir::DType::kF32, std::move(shape), {}, {}};
    const NodeId id = graph_.InsertBefore(
        position_, {.op = Op(op),
                    .inputs = std::move(inputs),
                    .attributes = std::move(attributes),
                    .results = {{graph_.UniqueName(name_ + std::string(suffix)), type}},
                    .origin = origin_});
    return graph_.node(id).result();
  }

 private:
  Graph& graph_;
  NodeId position_;
  std::string name_;
  std::vector<std::string> origin_;
};

}  // namespace

void LowerConv(Graph& graph, NodeId id, const FloatChoice& choice, Context& context,
               const ValueRanges& ranges) {
  const Node& node = graph.node(id);
  if (!Is(node, "Conv") || !context.settings().target.Lowers("Conv") ||
      !context.Allows(kConvToGemm.effect) || choice.IsRequested(graph, node)) {
    return;
  }
  if (const std::string why = WhyNot(graph, node); !why.empty()) {
    context.Keep(node.name, why);
    return;
  }
  const ValueId x = node.input(0), w = node.input(1), b = node.input(2), y = node.result();
  const std::string name = graph.name(y);
  const ir::Shape in = graph.type(x).shape, out = graph.type(y).shape;
  const int64_t pixels = in[2] * in[3], rows = in[0] * pixels;
  context.Applied(kConvToGemm, node.name, {name});

  Mover mover(graph, id, name);
  ValueId data = pixels == 1 ? x : mover.Transposed(x, {0, 2, 3, 1}, ".pixels");
  data = mover.Reshaped(data, {rows, in[1]}, ".rows");
  const ValueId matrix =
      ChangeConstant(graph, w, graph.value(w).constant->tensor.Reshaped({out[1], in[1]}));
  std::vector<ValueId> inputs = {data, matrix};
  if (b) inputs.push_back(b);
  ValueId product =
      mover.Add(".product", "Gemm", std::move(inputs), {rows, out[1]}, {{"transB", int64_t{1}}});
  DeriveRange(context, graph.name(product), KnownRange(graph, context, ranges, y));
  if (pixels == 1) {
    const ValueId shape = AddConstant(graph, name + ".shape", Tensor::Ints(out));
    Recompute(graph, id, "Reshape", {product, shape}, {});
    return;
  }
  product = mover.Reshaped(product, {in[0], in[2], in[3], out[1]}, ".pixels");
  Recompute(graph, id, "Transpose", {product}, {{"perm", Ints{0, 3, 1, 2}}});
}

}  // namespace octavo::passes
