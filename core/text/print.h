// SPDX-License-Identifier: Apache-2.0
// Prints a graph as canonical text: equal graphs print equal texts, and Parse restores the same
// graph (except Node::origin, the original nodes behind each node, which is not printed).
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "core/ir/graph.h"

namespace octavo::text {

// Called once for each distinct constant data that prints as data(sha256:DIGEST, ..).
using PayloadSink = std::function<void(const std::string& digest, const ir::Tensor& tensor)>;

// What earlier texts of a graph spelled out, and texts of its later forms name again.
struct Spelled {
  std::unordered_map<ir::PayloadPtr, std::string> digests = {};  // of constant data
  std::unordered_map<std::string, std::string> scales = {};      // long lists, by their bytes
};

struct PrintOptions {
  PayloadSink payload = {};
  Spelled* spelled = nullptr;  // null: spells out everything anew
  // Constants of at most this many elements print as lists.
  int64_t literal_elements = 16;
  // Also prints former names of values: `alias` and `retired` statements.
  bool old_names = true;
};

std::string Print(const ir::Graph& graph, const PrintOptions& options = {});

}  // namespace octavo::text
