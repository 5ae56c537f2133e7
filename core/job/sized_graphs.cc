// SPDX-License-Identifier: Apache-2.0
#include "core/job/sized_graphs.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/ir/infer.h"
#include "core/job/float_names.h"
#include "core/job/load.h"
#include "core/job/opaque.h"
#include "core/job/settings.h"
#include "core/job/survey.h"
#include "core/profile/profile.h"

namespace octavo::job {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

bool Stops(const passes::RunOptions& run, std::initializer_list<passes::Phase> phases) {
  return std::ranges::any_of(passes::PassesOf(phases), [&](const passes::Pass* pass) {
    return pass->name == run.stop_before;
  });
}

std::string Describe(const ir::Node& node) {
  return fmt::format("{} '{}'", node.op->name, node.name);
}

bool SameNames(const Graph& a, const std::vector<ValueId>& in_a, const Graph& b,
               const std::vector<ValueId>& in_b) {
  return std::ranges::equal(
      in_a, in_b, [&](ValueId x, ValueId y) { return x && y ? a.name(x) == b.name(y) : !x && !y; });
}

bool SameConstant(const ir::Value& a, const ir::Value& b) {
  if (!a.constant || !b.constant) return !a.constant && !b.constant;
  const ir::Tensor &x = a.constant->tensor, &y = b.constant->tensor;
  if (a.type != b.type || x.dtype() != y.dtype() || x.shape() != y.shape()) return false;
  return x.raw() == y.raw() || std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.bytes())) == 0;
}

using NodesByName = std::unordered_map<std::string_view, const ir::Node*>;

NodesByName NodesOf(const Graph& graph) {
  NodesByName nodes;
  for (const NodeId id : graph.nodes()) nodes.emplace(graph.node(id).name, &graph.node(id));
  return nodes;
}

template <class Visit>
void EachValue(const Graph& graph, const Visit& visit) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    if (!graph.value(id).erased) visit(id);
  }
}

}  // namespace

bool EndsJob(const Error& error) {
  return error.code == Code::kCancelled || error.code == Code::kDeadlineExceeded ||
         error.code == Code::kResourceExhausted;
}

SizedModel::SizedModel(const Request& request, const passes::Settings& settings,
                       const std::vector<onnx::InputSignature>& inputs)
    : request_(request), settings_(settings), inputs_(inputs) {}

Result<Graph> SizedModel::At(const InputShapes& shapes) const {
  OCTAVO_CHECK(settings_.stop.Check());
  onnx::ImportOptions options{.max_nodes = request_.limits.nodes,
                              .find_op = FinderFor(&settings_.target),
                              .opaque = !request_.options.strict_ops};
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const bool open = std::ranges::any_of(inputs_[i].declared,
                                          [](const onnx::Extent& each) { return !each.value; });
    if (open) options.shapes[inputs_[i].name] = shapes[i];
  }
  for (const NamedBlob& blob : request_.external_data) options.external[blob.name] = blob.bytes;
  OCTAVO_TRY(onnx::Imported imported, onnx::ImportModel(request_.model.bytes, options));
  Graph& graph = imported.graph;
  const auto float_names = FindFloatNames(
      NamesInGraph(settings_.options.keep_float, imported.contract), graph, imported.ops);
  passes::Settings settings = settings_;
  // Lowering only asks whether there is one.
  const profile::Profile profile;
  settings.profile = Quantizes(settings.options, graph) ? &profile : nullptr;
  settings.checkpoint = {};
  const passes::RunOptions run = RunOptionsOf(settings.options);
  passes::Findings findings;
  using passes::Phase;
  OCTAVO_CHECK(passes::RunPipeline(passes::PassesOf({Phase::kImport, Phase::kPrepare}), run,
                                   settings, graph, findings));
  if (Stops(run, {Phase::kImport, Phase::kPrepare})) return std::move(graph);
  settings.options.keep_float = NodesToKeepFloat(float_names, graph);
  OCTAVO_CHECK(
      passes::RunPipeline(passes::PassesOf({Phase::kLower}), run, settings, graph, findings));
  return std::move(graph);
}

std::optional<Obstacle> CompareNodes(const Graph& graph, Graph& other,
                                     std::set<std::string>& varying) {
  const auto differs = [](const ir::Node& node, std::string_view how) {
    return Obstacle{.node = node.name, .why = fmt::format("{} {}", Describe(node), how)};
  };
  const NodesByName own = NodesOf(graph), others = NodesOf(other);
  for (const NodeId id : other.nodes()) {
    const ir::Node& node = other.node(id);
    if (!own.contains(node.name)) return differs(node, "was rewritten because of the size");
  }
  const auto compare = [&](ValueId own, ValueId its) {
    const ir::Value& value = graph.value(own);
    if (!SameConstant(value, other.value(its))) {
      varying.insert(value.name);
    } else if (value.constant) {
      other.SetPayload(its, value.constant, value.type);
    }
  };
  for (const NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    const auto at = others.find(node.name);
    if (at == others.end()) return differs(node, "is of this size only");
    const ir::Node& match = *at->second;
    if (match.op != node.op) {
      return differs(node, fmt::format("is {} at other sizes", match.op->name));
    }
    if (!(match.attributes == node.attributes)) {
      return differs(node, "has other attributes at other sizes");
    }
    if (!SameNames(graph, node.inputs, other, match.inputs) ||
        !SameNames(graph, node.results, other, match.results)) {
      return differs(node, "has other operands at other sizes");
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i]) compare(node.inputs[i], match.inputs[i]);
    }
  }
  if (!SameNames(graph, graph.outputs(), other, other.outputs())) {
    return Obstacle{.why = "the outputs are other values at other sizes"};
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    compare(graph.outputs()[i], other.outputs()[i]);
  }
  return std::nullopt;
}

std::optional<Obstacle> Retype(Graph& graph, const InputShapes& shapes) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ValueId input = graph.inputs()[i];
    ir::Type type = graph.type(input);
    type.shape = shapes[i];
    graph.SetType(input, std::move(type));
  }
  ir::Inference inference(graph);
  for (const NodeId id : graph.nodes()) {
    const auto types = inference.Infer(id);
    const ir::Node& node = graph.node(id);
    if (!types) return Obstacle{.node = node.name, .why = types.error().message};
    for (size_t i = 0; i < node.results.size(); ++i) {
      ir::Type type = graph.type(node.results[i]);
      type.shape = (*types)[i].shape;
      const bool per_axis = type.quant && type.quant->axis && !type.blocked();
      if (per_axis &&
          type.shape[static_cast<size_t>(*type.quant->axis)] != std::ssize(type.quant->scales)) {
        return Obstacle{node.name, fmt::format("{} has scales of its extent", Describe(node)),
                        false};
      }
      graph.SetType(node.results[i], std::move(type));
    }
    inference.Learn(id);
  }
  return std::nullopt;
}

std::set<std::string> EqualShapes(const Graph& graph, const Graph& model) {
  std::set<std::string> names;
  EachValue(model, [&](ValueId id) {
    const ValueId own = graph.Find(model.name(id));
    if (own && graph.type(own).shape == model.type(id).shape) names.insert(model.name(id));
  });
  return names;
}

std::optional<Obstacle> CompareShapes(const Graph& graph, const Graph& model,
                                      const std::set<std::string>& names) {
  const auto compare = [&](ValueId own, ValueId its) -> std::optional<Obstacle> {
    const ir::Shape &is = graph.type(own).shape, &must = model.type(its).shape;
    if (is == must) return std::nullopt;
    const ir::Node* producer = graph.Producer(own);
    return Obstacle{
        .node = producer ? producer->name : graph.name(own),
        .why = fmt::format("{} would have shape {} where the model has {}",
                           producer ? Describe(*producer) : fmt::format("'{}'", graph.name(own)),
                           ir::ToString(is), ir::ToString(must))};
  };
  // In the order of computation, so that the first that differs is the cause.
  for (const NodeId id : graph.nodes()) {
    const auto check = [&](ValueId own) -> std::optional<Obstacle> {
      if (!own || !names.contains(graph.name(own))) return std::nullopt;
      const ValueId its = model.Find(graph.name(own));
      return its ? compare(own, its) : std::nullopt;
    };
    for (const ValueId own : graph.node(id).inputs) {
      if (auto obstacle = check(own)) return obstacle;
    }
    for (const ValueId own : graph.node(id).results) {
      if (auto obstacle = check(own)) return obstacle;
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (auto obstacle = compare(graph.outputs()[i], model.outputs()[i])) return obstacle;
  }
  return std::nullopt;
}

}  // namespace octavo::job
