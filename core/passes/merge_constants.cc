// Rounds every Quantize of a constant, once and last: until here its parameters could change at
// no loss.
//
//   merged   Quantize(constant) : t  ->  constant : t      exact
#include "core/ops/quantize_math.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kMerged = {"merged", "Quantize(constant) : t -> constant : t", Effect::kExact,
                          "the value is the same; only when it is rounded changes"};
constexpr Rule kRules[] = {kMerged};

Status Run(Graph& graph, Context& context) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!IsOwn(node, "Quantize")) continue;
    const ValueId payload = node.inputs[0];
    if (!graph.IsConstant(payload)) continue;
    const ValueId value = node.result();
    const ir::Type type = graph.type(value);
    ir::Tensor codes = ops::QuantizeTensor(graph.value(payload).constant->tensor, type);
    context.Applied(kMerged, node.name, {graph.name(payload), graph.name(value)});
    graph.DefineAsConstant(value, ir::MakePayload(std::move(codes)), type);
    if (graph.CountUses(payload) == 0) {
      graph.AddAlias(graph.name(payload), value);
      graph.EraseConstant(payload);
    }
  }
  return {};
}

}  // namespace

const Pass kMergeConstantsPass = {
    .name = "merge-constants",
    .promise = "every quantized constant holds its codes",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
