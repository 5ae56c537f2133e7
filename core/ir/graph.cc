// SPDX-License-Identifier: Apache-2.0
#include "core/ir/graph.h"

#include <algorithm>
#include <cassert>
#include <queue>

namespace octavo::ir {

// ---------------------------------------------------------------- queries

std::vector<NodeId> Graph::Consumers(ValueId id) const {
  std::vector<NodeId> consumers;
  for (const Use& use : value(id).uses) consumers.push_back(use.node);
  std::sort(consumers.begin(), consumers.end());
  consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
  return consumers;
}

ValueId Graph::Find(std::string_view name) const { return {values_by_name_.Find(name, values_)}; }

ValueId Graph::Resolve(std::string_view name) const {
  if (const ValueId own = Find(name)) return own;
  // An alias may resolve to another alias.  Each step finds a newer value, so the loop ends.
  auto at = aliases_.find(name);
  while (at != aliases_.end() && value(at->second).erased) {
    at = aliases_.find(value(at->second).name);
  }
  return at == aliases_.end() ? ValueId{} : at->second;
}

// ---------------------------------------------------------------- building

ValueId Graph::AddInput(std::string name, Type type) {
  const ValueId id = AddValue({.name = std::move(name), .type = std::move(type), .is_input = true});
  inputs_.push_back(id);
  return id;
}

ValueId Graph::AddConstant(std::string name, PayloadPtr payload, Type type) {
  return AddValue(
      {.name = std::move(name), .type = std::move(type), .constant = std::move(payload)});
}

ValueId Graph::AddConstant(std::string name, Tensor tensor) {
  Type type{tensor.dtype(), tensor.shape(), {}, {}};
  return AddConstant(std::move(name), MakePayload(std::move(tensor)), std::move(type));
}

void Graph::AddOutput(ValueId id) {
  outputs_.push_back(id);
  ++Edit(id).output_uses;
}

ValueId Graph::AddValue(Value value) {
  const ValueId id{static_cast<int32_t>(values_.size())};
  values_.push_back(std::move(value));
  values_by_name_.Add(id.index, values_);
  verified_ = false;
  return id;
}

NodeId Graph::Create(Definition definition) {
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  Node node;
  node.op = definition.op;
  node.inputs = std::move(definition.inputs);
  node.attributes = std::move(definition.attributes);
  node.origin = std::move(definition.origin);
  while (!node.inputs.empty() && !node.inputs.back()) node.inputs.pop_back();
  for (auto& [name, type] : definition.results) {
    node.results.push_back(AddValue({.name = std::move(name),
                                     .type = std::move(type),
                                     .producer = id,
                                     .result = static_cast<int>(node.results.size())}));
  }
  node.name = std::move(definition.name);
  if (node.name.empty() && !node.results.empty()) node.name = UniqueNodeName(name(node.results[0]));
  // This node takes over the name of an erased node.
  if (const NodeId old = FindNode(node.name); old && nodes_[old.index].erased) {
    nodes_by_name_.Remove(node.name, nodes_);
  }
  nodes_.push_back(std::move(node));
  nodes_by_name_.Add(id.index, nodes_);
  const std::vector<ValueId>& inputs = nodes_.back().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) AddUse(inputs[i], {id, static_cast<int>(i)});
  return id;
}

NodeId Graph::AddNode(Definition definition) {
  const NodeId id = Create(std::move(definition));
  Link(id, {});
  return id;
}

NodeId Graph::InsertBefore(NodeId position, Definition definition) {
  const NodeId id = Create(std::move(definition));
  Link(id, position);
  return id;
}

NodeId Graph::InsertAfter(NodeId position, Definition definition) {
  const NodeId id = Create(std::move(definition));
  Link(id, node(position).next);
  return id;
}

std::string Graph::UniqueName(std::string_view base) const {
  std::string name(base);
  for (int i = 1; Find(name) || aliases_.count(name) || retired_.count(name); ++i) {
    name = fmt::format("{}_{}", base, i);
  }
  return name;
}

std::string Graph::UniqueNodeName(std::string_view base) const {
  std::string name(base);
  for (int i = 1; FindNode(name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

// ---------------------------------------------------------------- rewriting

void Graph::Redefine(NodeId id, const OpDef* op, std::vector<ValueId> inputs, AttrMap attributes) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  DropInputs(id);
  Node& node = Edit(id);
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    AddUse(node.inputs[i], {id, static_cast<int>(i)});
  }
}

void Graph::SetInput(NodeId id, size_t input, ValueId value) {
  Node& node = Edit(id);
  if (input >= node.inputs.size()) node.inputs.resize(input + 1);
  DropUse(node.inputs[input], {id, static_cast<int>(input)});
  node.inputs[input] = value;
  AddUse(value, {id, static_cast<int>(input)});
}

void Graph::SetPayload(ValueId id, PayloadPtr payload, Type type) {
  assert(IsConstant(id));
  Value& value = Edit(id);
  value.constant = std::move(payload);
  value.type = std::move(type);
}

void Graph::DefineAsConstant(ValueId id, PayloadPtr payload, Type type) {
  const NodeId producer = value(id).producer;
  assert(producer && node(producer).results.size() == 1);
  SetType(id, std::move(type));
  DefineAsConstants(producer, {&payload, 1});
}

void Graph::DefineAsConstants(NodeId id, std::span<const PayloadPtr> payloads) {
  DropInputs(id);
  Unlink(id);
  Node& node = Edit(id);
  assert(node.results.size() == payloads.size());
  for (size_t i = 0; i < payloads.size(); ++i) {
    Value& value = Edit(node.results[i]);
    value.producer = {};
    value.result = 0;
    value.constant = payloads[i];
  }
  node.erased = true;
  node.results.clear();
  --node_count_;
}

NodeId Graph::DefineAsNode(ValueId constant, Definition definition) {
  assert(IsConstant(constant) && definition.results.empty());
  NodeId before;
  const std::vector<Use>& uses = value(constant).uses;
  if (!uses.empty()) {
    std::set<NodeId> consumers;
    for (const Use& use : uses) consumers.insert(use.node);
    before = FirstOf(consumers);
  }
  if (definition.name.empty()) definition.name = UniqueNodeName(name(constant));
  const NodeId id = Create(std::move(definition));
  Link(id, before);
  Edit(id).results = {constant};
  Value& value = Edit(constant);
  value.constant = nullptr;
  value.producer = id;
  value.result = 0;
  return id;
}

ValueId Graph::Interpose(ValueId id, std::string inner_name, Type inner_type,
                         Definition definition) {
  const NodeId producer = value(id).producer;
  assert(producer && definition.results.empty());
  const int result = value(id).result;
  const ValueId inner = AddValue({.name = std::move(inner_name),
                                  .type = std::move(inner_type),
                                  .producer = producer,
                                  .result = result});
  Edit(producer).results[result] = inner;
  definition.inputs.insert(definition.inputs.begin(), inner);
  if (definition.name.empty()) {
    definition.name = UniqueNodeName(fmt::format("{}_{}", name(id), definition.op->name));
  }
  const NodeId between = Create(std::move(definition));
  Link(between, node(producer).next);
  Edit(between).results = {id};
  Edit(id).producer = between;
  Edit(id).result = 0;
  return inner;
}

void Graph::Absorb(ValueId inner, ValueId outer) {
  const NodeId producer = value(inner).producer;
  const NodeId consumer = value(outer).producer;
  assert(producer && consumer && node(consumer).results.size() == 1);
  DropInputs(consumer);
  assert(CountUses(inner) == 0);
  Unlink(consumer);
  Edit(consumer).erased = true;
  Edit(consumer).results.clear();
  --node_count_;
  const int result = value(inner).result;
  Edit(producer).results[result] = outer;
  Edit(outer).producer = producer;
  Edit(outer).result = result;
  Retire(inner);
}

void Graph::Forward(ValueId from, ValueId to) {
  assert(!IsOutput(from) && from != to);
  const std::vector<Use> uses = value(from).uses;
  for (const Use& use : uses) SetInput(use.node, use.input, to);
  AddAlias(name(from), to);
}

void Graph::Erase(NodeId id) {
  DropInputs(id);
  Unlink(id);
  Node& node = Edit(id);
  node.erased = true;
  --node_count_;
  for (const ValueId result : node.results) {
    assert(CountUses(result) == 0);
    Retire(result);
  }
  node.results.clear();
}

void Graph::EraseConstant(ValueId id) {
  assert(IsConstant(id) && CountUses(id) == 0);
  Edit(id).constant = nullptr;
  Retire(id);
}

int Graph::EraseDead() {
  int erased = 0;
  for (NodeId at = last_; at;) {
    const NodeId previous = node(at).previous;
    const auto& results = node(at).results;
    if (std::none_of(results.begin(), results.end(), [&](ValueId r) { return CountUses(r); })) {
      Erase(at);
      ++erased;
    }
    at = previous;
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    if (!values_[i].erased && IsConstant(id) && CountUses(id) == 0) EraseConstant(id);
  }
  return erased;
}

void Graph::AddAlias(std::string name, ValueId id) {
  aliases_.insert_or_assign(std::move(name), id);
}

void Graph::AddOrigin(NodeId id, std::span<const std::string> origin) {
  constexpr size_t kMaxSearched = 32;  // names in a list that is searched one by one
  std::vector<std::string>& list = Edit(id).origin;
  for (const std::string& name : origin) {
    if (list.size() <= kMaxSearched) {
      if (std::ranges::find(list, name) == list.end()) list.push_back(name);
      continue;
    }
    std::unordered_set<std::string>& known = long_origins_[id.index];
    if (known.empty()) known.insert(list.begin(), list.end());
    if (known.insert(name).second) list.push_back(name);
  }
}

Status Graph::Sort() {
  std::vector<int32_t> position(nodes_.size(), 0), waiting(nodes_.size(), 0);
  std::vector<NodeId> order;
  for (const NodeId id : nodes()) {
    position[id.index] = static_cast<int32_t>(order.size());
    order.push_back(id);
    for (const ValueId input : node(id).inputs) {
      if (input && value(input).producer) ++waiting[id.index];
    }
  }
  const auto later = [&](NodeId a, NodeId b) { return position[a.index] > position[b.index]; };
  std::priority_queue<NodeId, std::vector<NodeId>, decltype(later)> ready(later);
  for (const NodeId id : order) {
    if (waiting[id.index] == 0) ready.push(id);
  }
  std::vector<NodeId> sorted;
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    sorted.push_back(id);
    for (const ValueId result : node(id).results) {
      for (const Use& use : value(result).uses) {
        if (--waiting[use.node.index] == 0) ready.push(use.node);
      }
    }
  }
  if (sorted.size() != order.size()) {
    for (const NodeId id : order) {
      if (waiting[id.index] == 0) continue;
      return Fail(Code::kInvalidArgument, "{} '{}' is part of a cycle", node(id).op->name,
                  node(id).name)
          .Node(node(id).name)
          .Reason("CYCLE");
    }
  }
  first_ = last_ = {};
  node_count_ = 0;
  for (const NodeId id : sorted) Link(id, {});
  return {};
}

// ---------------------------------------------------------------- internals

NodeId Graph::FirstOf(const std::set<NodeId>& some) const {
  NodeId first = *some.begin();
  NodeId back = first, ahead = first;
  for (size_t met = 1; met < some.size() && (back || ahead);) {
    if (back) back = node(back).previous;
    if (ahead) ahead = node(ahead).next;
    if (back && some.count(back)) {
      first = back;
      ++met;
    }
    if (ahead && some.count(ahead)) ++met;
  }
  return first;
}

void Graph::Link(NodeId id, NodeId before) {
  Node& node = Edit(id);
  node.next = before;
  node.previous = before ? Edit(before).previous : last_;
  (node.previous ? Edit(node.previous).next : first_) = id;
  (before ? Edit(before).previous : last_) = id;
  ++node_count_;
}

void Graph::Unlink(NodeId id) {
  const Node& node = nodes_[id.index];
  (node.previous ? Edit(node.previous).next : first_) = node.next;
  (node.next ? Edit(node.next).previous : last_) = node.previous;
}

void Graph::AddUse(ValueId value, Use use) {
  if (value) Edit(value).uses.push_back(use);
}

void Graph::DropUse(ValueId value, Use use) {
  if (!value) return;
  std::vector<Use>& uses = Edit(value).uses;
  const auto at = std::find(uses.begin(), uses.end(), use);
  assert(at != uses.end());
  *at = uses.back();
  uses.pop_back();
}

void Graph::DropInputs(NodeId id) {
  Node& node = Edit(id);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    DropUse(node.inputs[i], {id, static_cast<int>(i)});
  }
  node.inputs.clear();
}

void Graph::Retire(ValueId id) {
  Value& value = Edit(id);
  value.erased = true;
  value.producer = {};
  values_by_name_.Remove(value.name, values_);
  if (!aliases_.count(value.name)) retired_.insert(value.name);
}

}  // namespace octavo::ir
