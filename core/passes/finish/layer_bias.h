// SPDX-License-Identifier: Apache-2.0
// The bias of a layer: its own operand, one that it can get, or the constant of the Add that is the
// only consumer of a MatMul.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/profile/layer.h"
#include "core/target/target.h"

namespace octavo::passes {

struct LayerBias {
  bool possible = false;                 // the layer has or can get a constant bias
  const ir::Tensor* constant = nullptr;  // the float elements of its own operand, if there is one
};
LayerBias BiasOf(const ir::Graph& graph, const profile::Layer& layer);

// Whether the node's result is just the product and its bias: a Gemm may have factors.
bool IsPlainProduct(const ir::Node& node);

struct BiasChange {
  std::string name = {};  // of the bias
  double most = 0;        // the largest magnitude that was added to an element
};
// Adds `shift`, an element per output channel, to the bias of the layer, which is possible; a bias
// with other consumers is copied.  nullopt if nothing changes.
std::optional<BiasChange> AddToBias(ir::Graph& graph, const profile::Layer& layer,
                                    std::span<const double> shift, const target::Target& target);

}  // namespace octavo::passes
