// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/export/local_types.h"

#include "core/ir/infer.h"
#include "core/onnx/versions/version_table.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {

std::optional<ir::Type> TypeOfResult(const ir::Graph& graph, int64_t opset, const Draft& draft,
                                     const LocalTypes& locals) {
  Conversion conversion{.node = draft};
  if (!UpgradeToNewest(graph, opset, conversion) || !conversion.before.empty()) return std::nullopt;
  const ir::OpDef* op = ops::FindOp(conversion.node.op, conversion.node.domain);
  if (op == nullptr) return std::nullopt;
  ir::Graph scratch;
  std::vector<ir::ValueId> inputs;
  for (const Operand& operand : conversion.node.inputs) {
    std::string name = fmt::format("operand {}", inputs.size());
    if (operand.absent()) {
      inputs.emplace_back();
    } else if (operand.literal) {
      inputs.push_back(scratch.AddConstant(std::move(name), *operand.literal));
    } else if (operand.value) {
      inputs.push_back(scratch.AddInput(std::move(name), graph.type(operand.value).Expressed()));
    } else {
      const auto local = locals.find(operand.name);
      if (local == locals.end()) return std::nullopt;
      inputs.push_back(scratch.AddInput(std::move(name), local->second));
    }
  }
  const auto types =
      ir::InferNode(scratch, *op, conversion.node.name, inputs, conversion.node.attributes);
  return types && types->size() == 1 ? std::optional(types->front()) : std::nullopt;
}

}  // namespace octavo::onnx
