#include "core/passes/bias_rescale.h"

#include <cmath>
#include <limits>

namespace octavo::passes {

using ir::ValueId;

std::string ReexpressBias(ir::Graph& graph, ir::NodeId reader, const ir::Type& data) {
  const ir::Node& node = graph.node(reader);
  ValueId weight, bias;
  size_t bias_input = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.op->RoleOf(i) == ir::Role::kWeight) weight = node.inputs[i];
    if (node.op->RoleOf(i) != ir::Role::kBias) continue;
    bias = node.inputs[i];
    bias_input = i;
  }
  if (!bias || !graph.type(bias).quantized()) return {};
  if (!graph.IsConstant(bias)) return "its reader's bias is computed, so it cannot be re-expressed";

  const ir::Type old_type = graph.type(bias);
  const ir::Quant& old_quant = *old_type.quant;
  const ir::Quant& weights = *graph.type(weight).quant;
  ir::Type type = old_type;
  const std::span<const int32_t> old_codes = graph.value(bias).constant->tensor.values<int32_t>();
  std::vector<int32_t> codes(old_codes.size());
  for (size_t c = 0; c < old_quant.scales.size(); ++c) {
    const auto channel = static_cast<int64_t>(c);
    const float scale = data.quant->scale() * weights.scale(channel);
    if (scale > old_quant.scales[c]) return "its reader's integer bias would become coarser";
    type.quant->scales[c] = scale;
  }
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto c = static_cast<int64_t>(i);
    const double code = std::nearbyint(static_cast<double>(old_codes[i]) *
                                       (double{old_quant.scale(c)} / double{type.quant->scale(c)}));
    if (std::fabs(code) > std::numeric_limits<int32_t>::max()) {
      return "its reader's integer bias would not fit 32 bits at the new scale";
    }
    codes[i] = static_cast<int32_t>(code);
  }
  auto payload = ir::MakePayload(ir::Tensor::Of<int32_t>(old_type.shape, codes));
  if (graph.CountUses(bias) == 1) {
    graph.SetPayload(bias, std::move(payload), std::move(type));
  } else {
    const ValueId copy =
        graph.AddConstant(graph.UniqueName(graph.name(bias)), std::move(payload), std::move(type));
    graph.SetInput(reader, bias_input, copy);
  }
  return {};
}

}  // namespace octavo::passes
