// SPDX-License-Identifier: Apache-2.0
// Writes a graph as text, canonically: equal graphs give equal texts, and Parse reads the same
// graph back (except Node::origin, which is not written).
#pragma once

#include <functional>
#include <string>

#include "core/ir/graph.h"

namespace octavo::text {

// Called once for all distinct constant data that print as data(sha256:DIGEST, ..).
using PayloadSink = std::function<void(const std::string& digest, const ir::Tensor& tensor)>;

struct PrintOptions {
  PayloadSink payload = {};
  // Constants of at most this many elements print as lists.
  int64_t literal_elements = 16;
  // Whether to write former names of values: `alias` and `retired` statements.
  bool old_names = true;
};

std::string Print(const ir::Graph& graph, const PrintOptions& options = {});

// "tensor<1x8xi8, scale=0.5, zp=11>"; all parameters of a per-channel type.
std::string PrintType(const ir::Type& type);

}  // namespace octavo::text
