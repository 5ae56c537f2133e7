#include "core/ops/reshape_family.h"

#include "core/ops/axis_rule.h"
#include "core/ops/strided_copy.h"

namespace octavo::ops {

Status ReshapeReference(const ir::EvalContext& context) {
  CopyAll(context.in(0), context.out());
  return {};
}

std::optional<ir::Quant> ReshapeMapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                         const ir::Quant& from) {
  return ReshapeQuant(from, graph.type(node.input(0)).shape, graph.type(node.result()).shape);
}

}  // namespace octavo::ops
