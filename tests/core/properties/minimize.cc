// SPDX-License-Identifier: Apache-2.0
// Finds smaller graphs that still fail by removing one node or output after another.
#include <algorithm>
#include <map>
#include <set>

#include "core/ir/verify.h"
#include "tests/core/properties/check_pass.h"

namespace octavo::test {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

// A part of a graph: some nodes and some outputs.
struct Part {
  std::set<NodeId> nodes = {};
  std::vector<ValueId> outputs = {};
};

// Copies the part to its own graph.  Values computed by removed nodes become inputs.
class Cutter {
 public:
  explicit Cutter(const Graph& from) : from_(from) {}

  Graph Cut(const Part& part) {
    for (const ValueId id : from_.inputs()) {
      if (IsRead(part, id)) Take(id);
    }
    for (const NodeId id : from_.nodes()) {
      if (part.nodes.count(id)) Copy(from_.node(id));
    }
    for (const ValueId id : part.outputs) to_.AddOutput(Take(id));
    to_.opsets = from_.opsets;
    return std::move(to_);
  }

 private:
  bool IsRead(const Part& part, ValueId id) const {
    if (std::count(part.outputs.begin(), part.outputs.end(), id)) return true;
    const auto& uses = from_.value(id).uses;
    return std::any_of(uses.begin(), uses.end(),
                       [&](const ir::Use& use) { return part.nodes.count(use.node) > 0; });
  }

  ValueId Take(ValueId id) {
    if (!id) return id;
    const auto [at, is_new] = taken_.try_emplace(id);
    if (!is_new) return at->second;
    const ir::Value& value = from_.value(id);
    return at->second = value.constant ? to_.AddConstant(value.name, value.constant, value.type)
                                       : to_.AddInput(value.name, value.type);
  }

  void Copy(const ir::Node& node) {
    Graph::Definition definition{
        .name = node.name, .op = node.op, .attributes = node.attributes, .origin = node.origin};
    for (const ValueId input : node.inputs) definition.inputs.push_back(Take(input));
    for (const ValueId id : node.results) {
      definition.results.emplace_back(from_.name(id), from_.type(id));
    }
    const NodeId copy = to_.AddNode(std::move(definition));
    for (size_t i = 0; i < node.results.size(); ++i) {
      taken_[node.results[i]] = to_.node(copy).results[i];
    }
  }

  const Graph& from_;
  Graph to_;
  std::map<ValueId, ValueId> taken_;
};

class Minimizer {
 public:
  Minimizer(const Graph& graph, const Property& holds) : graph_(graph), holds_(holds) {
    for (const NodeId id : graph.nodes()) part_.nodes.insert(id);
    part_.outputs = graph.outputs();
  }

  Graph Run() {
    while (LessOutputs() || LessNodes()) {
    }
    return Cutter(graph_).Cut(part_);
  }

 private:
  bool Try(Part part) {
    const Graph cut = Cutter(graph_).Cut(part);
    if (!ir::Verify(cut) || holds_(cut)) return false;
    part_ = std::move(part);
    return true;
  }

  bool LessOutputs() {
    for (size_t i = 0; part_.outputs.size() > 1 && i < part_.outputs.size(); ++i) {
      Part part = part_;
      part.outputs.erase(part.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      if (Try(std::move(part))) return true;
    }
    return false;
  }

  bool LessNodes() {
    for (const NodeId id : std::set<NodeId>(part_.nodes)) {
      Part part = part_;
      part.nodes.erase(id);
      if (Try(part)) return true;
      // If its results are outputs, make its operands outputs instead.
      std::erase_if(part.outputs,
                    [&](ValueId output) { return graph_.value(output).producer == id; });
      if (part.outputs.size() == part_.outputs.size()) continue;
      for (const ValueId input : graph_.node(id).inputs) {
        if (input && !graph_.IsConstant(input)) part.outputs.push_back(input);
      }
      if (!part.outputs.empty() && Try(std::move(part))) return true;
    }
    return false;
  }

  const Graph& graph_;
  const Property& holds_;
  Part part_;
};

}  // namespace

Graph Minimize(const Graph& graph, const Property& holds) { return Minimizer(graph, holds).Run(); }

}  // namespace octavo::test
