// SPDX-License-Identifier: Apache-2.0
// Imports a model, around the nodes that no graph holds.
#include <algorithm>
#include <set>

#include "core/base/nearest_name.h"
#include "core/onnx/import/cutter.h"
#include "core/onnx/import/known_ops.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

constexpr size_t kShown = 3;

bool MayBeWhole(const ModelProto& proto, const ImportOptions& options) {
  return std::ranges::all_of(proto.model.graph().node(), [&](const onnx_wire::Node& node) {
    return IsKnownOp(node, options.find_op) &&
           std::ranges::all_of(node.attribute(),
                               [](const auto& attribute) { return HasPlainKind(attribute); });
  });
}

// --shape may also name results of nodes that are left out.
Status CheckShapes(const ModelProto& proto, const ImportOptions& options,
                   const std::vector<std::string>& results) {
  std::vector<std::string> names;
  for (const onnx_wire::ValueInfo& input : proto.model.graph().input()) {
    names.push_back(input.name());
  }
  names.insert(names.end(), results.begin(), results.end());
  for (const auto& [name, shape] : options.shapes) {
    if (std::ranges::find(names, name) == names.end()) {
      return Fail(Code::kUsage,
                  "--shape {}: the model has no input of that name, and no result of an "
                  "unsupported node{}",
                  name, DidYouMean(name, names))
          .Field("shape");
    }
    const bool wrong = std::ranges::any_of(shape, [](int64_t extent) { return extent <= 0; });
    if (wrong) return Fail(Code::kUsage, "--shape {}: an extent below 1", name).Field("shape");
  }
  return {};
}

// The shapes of inputs of `rest`.
ImportOptions OptionsFor(const onnx_wire::Model& rest, const ImportOptions& options) {
  ImportOptions part = options;
  std::set<std::string> inputs;
  for (const onnx_wire::ValueInfo& input : rest.graph().input()) inputs.insert(input.name());
  std::erase_if(part.shapes, [&](const auto& entry) { return !inputs.contains(entry.first); });
  return part;
}

// One warning for all nodes of an operator, and one for all that follow.
void Warn(const OpaquePart& part, std::vector<ir::Warning>& warnings) {
  std::map<std::pair<std::string, std::string>, std::vector<const OpaqueNode*>> ops;
  std::vector<const OpaqueNode*> followers;
  for (const OpaqueNode& node : part.nodes) {
    if (node.follows) {
      followers.push_back(&node);
    } else {
      ops[{node.op, node.domain}].push_back(&node);
    }
  }
  const auto list = [](const std::vector<const OpaqueNode*>& nodes) {
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
      names.push_back(fmt::format("'{}'", nodes[i]->name));
    }
    if (nodes.size() > kShown) names.push_back(fmt::format("and {} more", nodes.size() - kShown));
    return fmt::format("{}", fmt::join(names, ", "));
  };
  for (const auto& [op, nodes] : ops) {
    const std::string domain = op.second.empty() ? "" : fmt::format(" of '{}'", op.second);
    warnings.push_back(
        {.code = "unsupported_op",
         .message = fmt::format("{} {}{} ({}) {} as the model has {}: {}", nodes.size(), op.first,
                                domain, list(nodes), nodes.size() == 1 ? "stays" : "stay",
                                nodes.size() == 1 ? "it" : "them", nodes.front()->reason),
         .node = nodes.front()->name});
  }
  if (followers.empty()) return;
  warnings.push_back(
      {.code = "not_calibrated",
       .message = fmt::format(
           "{} not computed and {} float ({}): {}; --values-from gives values",
           followers.size() == 1 ? "1 node is" : fmt::format("{} nodes are", followers.size()),
           followers.size() == 1 ? "stays" : "stay", list(followers), followers.front()->reason),
       .node = followers.front()->name});
}

// Completes the result with what was left out.
void Attach(const ModelProto& proto, OpaquePart part, Imported& imported) {
  part.opset = imported.opset;
  ir::Graph& graph = imported.graph;
  for (OutputSignature& output : imported.outputs) {
    output.handed = std::ranges::find(part.handed, output.name) != part.handed.end();
  }
  for (const ir::ValueId output : graph.outputs()) {
    part.read_types[graph.name(output)] = WireOf(graph.type(output).dtype);
  }
  for (size_t i = 0; i < imported.inputs.size(); ++i) {
    InputSignature& input = imported.inputs[i];
    part.read_types[input.name] = WireOf(input.dtype);
    if (std::ranges::find(part.held, input.name) == part.held.end()) continue;
    const ir::Shape& shape = graph.type(graph.inputs()[i]).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) input.declared[axis] = {shape[axis], {}};
  }
  imported.nodes = proto.model.graph().node_size();
  const std::set<std::string> held(part.held.begin(), part.held.end());
  for (const OpaqueNode& node : part.nodes) {
    ++imported.ops[node.op];
    // Passes take none of these names.
    for (const std::string& result : node.results) {
      if (!held.contains(result)) graph.AddRetired(result);
    }
  }
  // A value within a subgraph may have the name of one around it.
  for (const OpaqueNode& node : part.nodes) {
    for (const std::string& name : node.inner) {
      if (!graph.Find(name)) graph.AddRetired(name);
    }
  }
  for (const auto& [name, tensor] : part.tensors) graph.AddRetired(name);
  for (const NamedMessage& tensor : part.other_tensors) graph.AddRetired(tensor.name);
  Warn(part, imported.warnings);
  imported.contract.opaque = std::make_shared<const OpaquePart>(std::move(part));
}

}  // namespace

// Terminates: each round but the last leaves out at least one more node.
Result<Imported> ImportAround(const Blob& bytes, ModelProto proto, const ImportOptions& options) {
  std::vector<Refused> refused;
  if (MayBeWhole(proto, options)) {
    // --shape may name a result of a node that is refused.
    const ImportOptions inputs_only = OptionsFor(proto.model, options);
    const bool all = inputs_only.shapes.size() == options.shapes.size();
    Result<Imported> imported = ImportParsed(proto, inputs_only, &refused);
    if (imported && refused.empty() && !all) return ImportParsed(proto, options, nullptr);
    const bool declares = !imported && imported.error().code == Code::kUnimplemented;
    if (!declares && (!imported || refused.empty())) return imported;
  }
  const ModelProto whole = std::move(proto);
  Cutter cutter(bytes, whole, options);
  OCTAVO_CHECK(cutter.Begin());
  if (cutter.Whole() && refused.empty()) return ImportParsed(whole, options, nullptr);
  ModelProto part;
  part.views = whole.views;
  while (true) {
    if (!cutter.Leave(refused) && !refused.empty()) return Forward(refused.front().error);
    OCTAVO_TRY(part.model, cutter.Rest());
    // An input of an unsupported type that no node reads.
    if (cutter.LostNames().empty()) return ImportParsed(whole, options, nullptr);
    ImportOptions inner = OptionsFor(part.model, options);
    inner.taken_names = cutter.LostNames();
    const std::vector<std::string> more = cutter.InnerNames();
    inner.taken_names.insert(inner.taken_names.end(), more.begin(), more.end());
    OCTAVO_TRY(Imported imported, ImportParsed(part, inner, &refused));
    if (!refused.empty()) continue;
    OCTAVO_CHECK(CheckShapes(whole, options, cutter.LostNames()));
    OCTAVO_TRY(OpaquePart opaque, cutter.Part());
    Attach(whole, std::move(opaque), imported);
    return imported;
  }
}

Status CheckNodeCount(int64_t nodes, int64_t most) {
  if (most == 0 || nodes <= most) return {};
  return Fail(Code::kTooLarge, "the model has {} nodes; at most {} are allowed (max-nodes)", nodes,
              most)
      .Field("max-nodes");
}

Result<Imported> ImportModel(const Blob& model, const ImportOptions& options) {
  OCTAVO_TRY(ModelProto proto, ParseModel(model));
  OCTAVO_CHECK(CheckNodeCount(proto.model.graph().node_size(), options.max_nodes));
  Result<Imported> read = options.opaque ? ImportAround(model, std::move(proto), options)
                                         : ImportParsed(proto, options, nullptr);
  if (!read) return read;
  Imported imported = std::move(*read);
  imported.bytes = static_cast<int64_t>(model.size());
  for (const auto& [name, blob] : options.external) {
    imported.bytes += static_cast<int64_t>(blob.size());
  }
  return imported;
}

}  // namespace octavo::onnx
