// SPDX-License-Identifier: Apache-2.0
// A network: values and nodes in topological order, addressed by typed ids.  A rewrite changes how
// a value is computed (Redefine) or makes its consumers use another value (Forward, which records
// an alias); no function renames a value or loses a name.  Copyable; not thread-safe while it is
// being changed.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/ids.h"
#include "core/ir/name_index.h"
#include "core/ir/op_def.h"

namespace octavo::ir {

struct Use {
  NodeId node = {};
  int input = 0;

  bool operator==(const Use&) const = default;
};

struct Value {
  std::string name = {};
  Type type = {};
  NodeId producer = {};        // invalid: a graph input or a constant
  int result = 0;              // index among the producer's results
  PayloadPtr constant = {};    // set: a constant
  std::vector<Use> uses = {};  // by nodes; in no particular order
  bool is_input = false;
  int output_uses = 0;  // how often the graph outputs list it
  bool erased = false;
};

struct Node {
  std::string name = {};
  const OpDef* op = nullptr;
  std::vector<ValueId> inputs = {};  // an invalid id is an absent optional input
  std::vector<ValueId> results = {};
  AttrMap attributes = {};
  // Names of the original nodes that this one computes: itself at import, more after fusion.
  std::vector<std::string> origin = {};
  bool erased = false;
  NodeId next = {}, previous = {};  // topological order

  ValueId input(size_t i) const { return i < inputs.size() ? inputs[i] : ValueId{}; }
  ValueId result(size_t i = 0) const { return results[i]; }
};

// Iterates over nodes in order.  Erasing the current node, or inserting before it, is safe.
class NodeRange;

class Graph {
 public:
  // ------------------------------------------------------------ queries
  const Value& value(ValueId id) const { return values_[id.index]; }
  const Node& node(NodeId id) const { return nodes_[id.index]; }
  const Type& type(ValueId id) const { return values_[id.index].type; }
  const std::string& name(ValueId id) const { return values_[id.index].name; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  NodeRange nodes() const;
  NodeId first() const { return first_; }
  int64_t node_count() const { return node_count_; }
  // One past the largest index ever assigned; erased entries included.
  size_t value_bound() const { return values_.size(); }
  size_t node_bound() const { return nodes_.size(); }

  bool IsConstant(ValueId id) const { return value(id).constant != nullptr; }
  bool IsOutput(ValueId id) const { return value(id).output_uses > 0; }
  bool IsInput(ValueId id) const { return value(id).is_input; }
  // Uses by nodes plus occurrences among the graph outputs.
  int CountUses(ValueId id) const {
    return static_cast<int>(value(id).uses.size()) + value(id).output_uses;
  }
  // The node that computes the value, or null for inputs and constants.
  const Node* Producer(ValueId id) const {
    const NodeId producer = value(id).producer;
    return producer ? &node(producer) : nullptr;
  }
  // The consumers in topological order, each node once.
  std::vector<NodeId> Consumers(ValueId id) const;

  // Finds a value by its own name.
  ValueId Find(std::string_view name) const;
  // By its own name or an alias: the value that now represents an original name.
  ValueId Resolve(std::string_view name) const;
  // Names that rewrites forwarded, with the value that replaced each at that time; Resolve follows
  // chains of them.
  const std::map<std::string, ValueId, std::less<>>& aliases() const { return aliases_; }
  // Original names of values that rewrites removed.
  const std::set<std::string, std::less<>>& retired() const { return retired_; }
  // Whether the graph ever had a value of this name.
  bool Knows(std::string_view name) const {
    return Find(name) || aliases_.count(name) || retired_.count(name);
  }
  // The node of that name; if several have it (the verifier rejects that), the first.
  NodeId FindNode(std::string_view name) const { return {nodes_by_name_.Find(name, nodes_)}; }

  // Whether the verifier accepted the graph and nothing has changed since.
  bool verified() const { return verified_; }
  void SetVerified() { verified_ = true; }

  // Operator set versions by domain, as declared by the model ("" is ONNX).
  std::map<std::string, int64_t> opsets = {};
  // The model's own name and its metadata_props.
  std::string graph_name = {};
  std::map<std::string, std::string> metadata = {};

  // ------------------------------------------------------------ building
  // Names must be new (UniqueName makes one); the verifier checks that, these functions do not.
  ValueId AddInput(std::string name, Type type);
  ValueId AddConstant(std::string name, PayloadPtr payload, Type type);
  ValueId AddConstant(std::string name, Tensor tensor);
  void AddOutput(ValueId id);

  struct Definition {
    std::string name = {};  // empty: the first result's name
    const OpDef* op = nullptr;
    std::vector<ValueId> inputs = {};
    AttrMap attributes = {};
    std::vector<std::pair<std::string, Type>> results = {};
    std::vector<std::string> origin = {};
  };
  NodeId AddNode(Definition definition);  // at the end
  NodeId InsertBefore(NodeId position, Definition definition);
  NodeId InsertAfter(NodeId position, Definition definition);
  // `base`, or `base_1`, `base_2`.. if taken.
  std::string UniqueName(std::string_view base) const;
  // `base`, or `base_1`, `base_2`.. if a node has that name.
  std::string UniqueNodeName(std::string_view base) const;

  // ------------------------------------------------------------ rewriting
  // Changes how a node's results are computed; the result values and their names stay.
  void Redefine(NodeId id, const OpDef* op, std::vector<ValueId> inputs, AttrMap attributes);
  void SetInput(NodeId id, size_t input, ValueId value);
  void SetType(ValueId id, Type type) { Edit(id).type = std::move(type); }
  void SetPayload(ValueId id, PayloadPtr payload, Type type);
  // Turns the only result of a node into a constant of the same name and removes the node.
  void DefineAsConstant(ValueId id, PayloadPtr payload, Type type);
  // Does the same for all results of a node; they keep their types.
  void DefineAsConstants(NodeId id, std::span<const PayloadPtr> payloads);
  // Turns a constant into the result of a new node, inserted before the first consumer.
  NodeId DefineAsNode(ValueId constant, Definition definition);
  // Inserts a new node between a value and its consumers.  The producer of `id` then computes a new
  // value `inner_name` of type `inner_type`.  `id` keeps its name and its consumers and becomes the
  // result of `definition`, which must list no results; the inner value is inserted as its input 0.
  // Returns the inner value.  Not for graph inputs and constants.
  ValueId Interpose(ValueId id, std::string inner_name, Type inner_type, Definition definition);
  // Makes the producer of `inner` compute `outer` directly: removes the node that computes `outer`,
  // which must be the only consumer of `inner`, and retires the name of `inner`.  The caller keeps
  // the types right.
  void Absorb(ValueId inner, ValueId outer);
  // Replaces all uses of `from` by `to`, and makes the name of `from` an alias of `to`.  `from`
  // must not be a graph output.  Its producer stays until it is erased.
  void Forward(ValueId from, ValueId to);
  // Removes the node and its results, which must have no consumers; retires names that no longer
  // denote a value.
  void Erase(NodeId id);
  // Removes a constant without consumers and retires its name.
  void EraseConstant(ValueId id);
  // Removes nodes and constants without consumers.  Returns the number of removed nodes.
  int EraseDead();
  void AddAlias(std::string name, ValueId id);
  // For loading saved graphs: records a name that no longer denotes a value.
  void AddRetired(std::string name) { retired_.insert(std::move(name)); }
  void AddOrigin(NodeId id, std::span<const std::string> origin);
  // Restores topological order; nodes that need not move keep their order.  kInvalidArgument with a
  // node's name if the graph has a cycle.
  Status Sort();

 private:
  // Every change to an entry uses these.
  Value& Edit(ValueId id) {
    verified_ = false;
    return values_[id.index];
  }
  Node& Edit(NodeId id) {
    verified_ = false;
    return nodes_[id.index];
  }
  ValueId AddValue(Value value);
  NodeId Create(Definition definition);
  // The first of them in topological order.  Walks both ways from one of them until it has met all.
  NodeId FirstOf(const std::set<NodeId>& some) const;
  void Link(NodeId id, NodeId before);  // invalid `before`: at the end
  void Unlink(NodeId id);
  void AddUse(ValueId value, Use use);
  void DropUse(ValueId value, Use use);
  void DropInputs(NodeId id);
  void Retire(ValueId id);

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<ValueId> inputs_, outputs_;
  NodeId first_, last_;
  int64_t node_count_ = 0;
  NameIndex values_by_name_;  // those that are not erased
  NameIndex nodes_by_name_;   // erased ones too: their names stay taken
  bool verified_ = false;
  std::map<std::string, ValueId, std::less<>> aliases_;
  std::set<std::string, std::less<>> retired_;
  // By node index, for AddOrigin: the names in `origin` of nodes that have many.
  std::unordered_map<int32_t, std::unordered_set<std::string>> long_origins_;
};

class NodeRange {
 public:
  class Iterator {
   public:
    Iterator(const Graph& graph, NodeId at) : graph_(&graph), at_(at) { Peek(); }
    NodeId operator*() const { return at_; }
    Iterator& operator++() {
      at_ = next_;
      Peek();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    void Peek() { next_ = at_ ? graph_->node(at_).next : NodeId{}; }
    const Graph* graph_;
    NodeId at_, next_;
  };
  explicit NodeRange(const Graph& graph) : graph_(graph) {}
  Iterator begin() const { return {graph_, graph_.first()}; }
  Iterator end() const { return {graph_, NodeId{}}; }

 private:
  const Graph& graph_;
};

inline NodeRange Graph::nodes() const { return NodeRange(*this); }

}  // namespace octavo::ir
