// SPDX-License-Identifier: Apache-2.0
// Networks as a quantizing framework exports them: every value has its own parameters, and a
// same-scale op has a Rescale at each operand of another type.
#pragma once

#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::bench {

struct Net {
  std::string name = {};
  ir::Graph graph = {};
};

// DenseNet-, Inception-, ShuffleNet- and U-Net-like networks, the same on every machine.
std::vector<Net> QuantizedNets();

}  // namespace octavo::bench
