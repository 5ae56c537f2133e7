// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/data/sample_name.h"
#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/job/survey.h"
#include "core/text/print.h"

namespace octavo::job {
namespace {

using nlohmann::ordered_json;

ordered_json TypeJson(const std::string& name, const ir::Type& type) {
  ordered_json value = {{"name", name}, {"dtype", ir::Name(type.dtype)}, {"shape", type.shape}};
  if (!type.quant) return value;
  value["axis"] = type.quant->axis ? ordered_json(*type.quant->axis) : ordered_json(nullptr);
  if (type.blocked()) value["block"] = type.quant->block;
  value["scale"] = type.quant->scales;
  value["zero_point"] = type.quant->zero_points;
  return value;
}

// Extents that the model leaves open and no option binds stand as their symbols.
ordered_json Declared(ordered_json value, const std::vector<onnx::Extent>& declared) {
  ordered_json& shape = value["shape"];
  for (size_t i = 0; i < shape.size() && declared.size() == shape.size(); ++i) {
    if (!declared[i].value && !declared[i].zero) {
      shape[i] = declared[i].symbol.empty() ? "?" : declared[i].symbol;
    }
  }
  return value;
}

ordered_json OpaqueJson(const std::string& name, const onnx::OpaqueType& type) {
  ordered_json value = {{"name", name}, {"dtype", nullptr}, {"shape", nullptr}};
  if (!type.elements.empty()) value["dtype"] = type.elements;
  if (!type.extents) return value;
  value["shape"] = ordered_json::array();
  for (const std::string& extent : *type.extents) {
    const auto number = data::NumberOf(extent);
    value["shape"].push_back(number ? ordered_json(*number) : ordered_json(extent));
  }
  return value;
}

// A model has no sizes for its open dimensions: the first that all operators accept will do.
Result<Loaded> LoadToSee(const ModelInput& input) {
  LoadRequest request = RequestOf(input, input);
  Result<Loaded> first = Load(request);
  if (first || first.error().code != Code::kUsage) return first;
  for (const int64_t extent : {1, 224, 256, 64, 512, 32, 640, 128, 16, 8, 4, 2}) {
    request.open_extent = extent;
    Result<Loaded> loaded = Load(request);
    if (loaded || loaded.error().code != Code::kInvalidArgument) return loaded;
  }
  return first;
}

void AddInterface(const ModelInput& input, const Loaded& loaded, ordered_json& json) {
  const ir::Graph& graph = loaded.model.graph;
  const onnx::OpaquePart* opaque = OpaqueOf(loaded.model.contract);
  const bool bound = !input.samples.empty() || input.batch > 0;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::ValueId id = graph.inputs()[i];
    const std::string& name = graph.name(id);
    if (opaque && std::ranges::count(opaque->held, name) > 0) continue;
    const ordered_json value = TypeJson(name, graph.type(id));
    const bool keep = bound || input.shape.contains(name) || i >= loaded.model.inputs.size();
    json["inputs"].push_back(keep ? value : Declared(value, loaded.model.inputs[i].declared));
  }
  std::map<std::string, ordered_json> outputs;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const ir::ValueId id = graph.outputs()[i];
    ordered_json value = TypeJson(graph.name(id), graph.type(id));
    if (!opaque) {
      json["outputs"].push_back(std::move(value));
    } else {
      outputs.emplace(graph.name(id), std::move(value));
    }
  }
  if (!opaque) return;
  for (const std::string& name : opaque->outputs) {
    const auto computed = outputs.find(name);
    const auto type = opaque->types.find(name);
    const onnx::OpaqueType none;
    json["outputs"].push_back(
        computed != outputs.end()
            ? computed->second
            : OpaqueJson(name, type == opaque->types.end() ? none : type->second));
  }
}

// Nodes that Octavo leaves as they are: those that it does not support, or those that follow them.
ordered_json OpaqueNodes(const onnx::OpaquePart* opaque, bool follows) {
  ordered_json nodes = ordered_json::array();
  if (opaque == nullptr) return nodes;
  for (const onnx::OpaqueNode& node : opaque->nodes) {
    if (node.follows != follows) continue;
    ordered_json results = ordered_json::array();
    for (const std::string& result : node.results) {
      results.push_back(OpaqueJson(result, opaque->types.at(result)));
    }
    nodes.push_back({{"node", node.name},
                     {"op", node.op},
                     {"domain", node.domain},
                     {"reason", node.reason},
                     {"results", std::move(results)}});
  }
  return nodes;
}

}  // namespace

Result<std::string> InspectModel(const ModelInput& input) {
  OCTAVO_TRY(const Loaded loaded, LoadToSee(input));
  const ir::Graph& graph = loaded.model.graph;
  ordered_json json = {{"digest", "sha256:" + loaded.digest.get()},
                       {"bytes", loaded.model.bytes},
                       {"opset", loaded.model.opset},
                       {"ir_version", loaded.model.ir_version},
                       {"producer", loaded.model.producer},
                       {"nodes", loaded.model.nodes},
                       {"ops", loaded.model.ops},
                       {"rescales", CountRescales(graph).count}};
  AddInterface(input, loaded, json);
  json["quantized"] = ordered_json::array();
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    if (!value.erased && value.type.quantized()) {
      json["quantized"].push_back(TypeJson(value.name, value.type));
    }
  }
  // Operators that Octavo knows but that have no integer form on any target.
  json["unsupported"] = ordered_json::array();
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    const ir::QuantRule rule = node.op->QuantOf(graph, node);
    if (rule.kind != ir::QuantRule::Kind::kFloatOnly) continue;
    if (graph.type(node.result()).dtype != ir::DType::kF32) continue;
    json["unsupported"].push_back(
        {{"node", node.name}, {"op", node.op->name}, {"reason", rule.why}});
  }
  const onnx::OpaquePart* opaque = OpaqueOf(loaded.model.contract);
  json["opaque"] = OpaqueNodes(opaque, /*follows=*/false);
  json["not_calibrated"] = OpaqueNodes(opaque, /*follows=*/true);
  return json.dump(1, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace) + "\n";
}

Result<std::string> GraphText(const ModelInput& input) {
  LoadRequest request = RequestOf(input, input);
  request.unsupported = LoadRequest::Unsupported::kRefuse;  // a text cannot hold such nodes
  OCTAVO_TRY(const Loaded loaded, Load(request));
  return text::Print(loaded.model.graph);
}

}  // namespace octavo::job
