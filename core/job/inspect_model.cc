// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

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
  value["scale"] = type.quant->scales;
  value["zero_point"] = type.quant->zero_points;
  return value;
}

}  // namespace

Result<std::string> InspectModel(const ModelInput& input) {
  OCTAVO_TRY(const Loaded loaded, Load(RequestOf(input, input)));
  const ir::Graph& graph = loaded.model.graph;
  ordered_json json = {{"digest", "sha256:" + loaded.digest.get()},
                       {"bytes", loaded.model.bytes},
                       {"opset", loaded.model.opset},
                       {"ir_version", loaded.model.ir_version},
                       {"producer", loaded.model.producer},
                       {"nodes", loaded.model.nodes},
                       {"ops", loaded.model.ops},
                       {"rescales", CountRescales(graph).count}};
  for (const ir::ValueId id : graph.inputs()) {
    json["inputs"].push_back(TypeJson(graph.name(id), graph.type(id)));
  }
  for (const ir::ValueId id : graph.outputs()) {
    json["outputs"].push_back(TypeJson(graph.name(id), graph.type(id)));
  }
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
  return json.dump(1, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace) + "\n";
}

Result<std::string> GraphText(const ModelInput& input) {
  OCTAVO_TRY(const Loaded loaded, Load(RequestOf(input, input)));
  return text::Print(loaded.model.graph);
}

}  // namespace octavo::job
