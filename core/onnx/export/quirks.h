// SPDX-License-Identifier: Apache-2.0
// Where a graph meets the quirks of a runtime (core/target/quirk.h), as it is written at one opset.
#pragma once

#include <span>
#include <vector>

#include "core/ir/graph.h"
#include "core/target/quirk.h"

namespace octavo::onnx {

class QuirkFinder {
 public:
  // `quirks` must outlive the finder.
  QuirkFinder(const ir::Graph& graph, std::span<const target::Quirk> quirks, int64_t opset)
      : graph_(graph), quirks_(quirks), opset_(opset) {}

  // The quirks that the node meets.
  std::vector<const target::Quirk*> At(ir::NodeId id) const;
  // Whether what is written in front of the node's QuantizeLinear needs the remedy, by a quirk of
  // the node or, where the node is a Quantize, of the float op in front of it (for kFloatParameters
  // also with clamps and data movement between them).
  bool NeedsBeforeQuantize(ir::NodeId id, target::QuirkRemedy remedy) const;

 private:
  bool Meets(const target::Quirk& quirk, ir::NodeId id) const;

  const ir::Graph& graph_;
  std::span<const target::Quirk> quirks_;
  int64_t opset_;
};

// The bias of a Gemm as one int32 for each channel at the product of the scales; none where an
// element does not fit.
struct ChannelBias {
  ir::Tensor integers;
  ir::Tensor scales;
};
std::optional<ChannelBias> BiasPerChannel(const ir::Graph& graph, const ir::Node& node);

// The pads (begins, then ends) with which a pool of ceil_mode has the same windows without it; none
// where ceil_mode's formula counts just the windows that there are, or where count_include_pad
// would divide by more elements.
std::optional<std::vector<int64_t>> ExplicitPads(const ir::Graph& graph, const ir::Node& node);

}  // namespace octavo::onnx
