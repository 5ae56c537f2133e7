// SPDX-License-Identifier: Apache-2.0
#include "core/passes/float/pad_into_pool.h"

#include <limits>

#include "core/ir/infer.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;

// The pads of all axes, begins then ends, if the Pad adds only the lowest float or -infinity.
std::optional<std::vector<int64_t>> LeastPads(const Graph& graph, const Node& pad) {
  if (pad.attributes.String("mode", "constant") != "constant" || pad.input(3)) return std::nullopt;
  const std::optional<float> value = ScalarOf(graph, pad.input(2));
  if (!value || *value > std::numeric_limits<float>::lowest()) return std::nullopt;
  std::optional<std::vector<int64_t>> pads = IntsOf(graph, pad.input(1));
  if (!pads || pads->size() != 2 * graph.type(pad.result()).shape.size()) return std::nullopt;
  const size_t rank = pads->size() / 2;
  for (size_t i = 0; i < pads->size(); ++i) {
    if ((*pads)[i] < 0 || (i % rank < 2 && (*pads)[i] != 0)) return std::nullopt;
  }
  return pads;
}

}  // namespace

bool PadIntoPool(Graph& graph, NodeId id, Context& context) {
  const Node& pool = graph.node(id);
  if (!Is(pool, "MaxPool") || pool.results.size() != 1) return false;
  const Node* pad = ProducerIs(graph, pool.input(0), "Pad");
  if (pad == nullptr || graph.CountUses(pool.input(0)) != 1) return false;
  const std::string auto_pad = pool.attributes.String("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return false;
  const auto added = LeastPads(graph, *pad);
  if (!added) return false;

  const size_t rank = added->size() / 2;
  const size_t axes = rank - 2;
  std::vector<int64_t> pads = pool.attributes.Ints("pads");
  if (auto_pad == "VALID" || pads.empty()) pads.assign(2 * axes, 0);
  const std::vector<int64_t> kernel = pool.attributes.Ints("kernel_shape");
  for (size_t d = 0; d < axes; ++d) {
    pads[d] += (*added)[2 + d];
    pads[axes + d] += (*added)[rank + 2 + d];
    // A window entirely in the padding would have no largest element of its own.
    if (pads[d] >= kernel[d] || pads[axes + d] >= kernel[d]) return false;
  }
  ir::AttrMap attributes = pool.attributes;
  attributes.Erase("auto_pad");
  attributes.Set("pads", pads);
  const ir::ValueId x = pad->input(0);
  const auto types = ir::InferNode(graph, *pool.op, pool.name, {x}, attributes);
  if (!types || (*types)[0].shape != graph.type(pool.result()).shape) return false;
  context.Applied(kFoldPadIntoMaxPool, pool.name, {graph.name(pool.input(0)), graph.name(x)});
  const std::vector<std::string> origin = pad->origin;
  graph.Redefine(id, pool.op, {x}, std::move(attributes));
  graph.AddOrigin(id, origin);
  return true;
}

}  // namespace octavo::passes
