// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/cutter.h"

#include <algorithm>
#include <limits>

#include "core/onnx/import/bind_inputs.h"
#include "core/onnx/import/held_types.h"
#include "core/onnx/import/known_ops.h"
#include "core/onnx/import/node_reader.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

constexpr size_t kMostBytes = std::numeric_limits<int>::max();  // of a message

std::string Described(const onnx_wire::Node& node) {
  const std::string& domain = node.domain();
  return domain.empty() ? fmt::format("operator '{}'", node.op_type())
                        : fmt::format("operator '{}' of domain '{}'", node.op_type(), domain);
}

// The message of an error without the node's name, which stands next to it.
std::string ReasonOf(const Error& error) {
  const std::string start = fmt::format("node '{}': ", error.node);
  const bool named = error.message.starts_with(start);
  return named ? error.message.substr(start.size()) : error.message;
}

bool IsHeldByGraphs(const onnx_wire::ValueInfo& info) {
  return DeclaredShape(info) && DTypeOfWire(info.type().tensor_type().elem_type());
}

}  // namespace

Status Cutter::Begin() {
  OCTAVO_TRY(raw_, SplitModel(bytes_));
  const auto size = static_cast<size_t>(graph().node_size());
  if (raw_.nodes.size() != size ||
      raw_.initializers.size() != static_cast<size_t>(graph().initializer_size())) {
    return Fail(Code::kInvalidArgument, "not a valid ONNX model: it has several graphs")
        .Reason("MALFORMED");
  }
  names_ = SettleNames(graph());
  left_.resize(size);
  for (size_t i = 0; i < size; ++i) {
    const onnx_wire::Node& node = graph().node(static_cast<int>(i));
    const bool flat = std::ranges::all_of(
        node.attribute(), [](const auto& attribute) { return HasPlainKind(attribute); });
    Subgraphs read;
    if (!flat) {
      auto found = ReadSubgraphs(raw_.nodes[i]);
      if (!found) {
        Error error = std::move(found).error();
        error.message = fmt::format("node '{}': {}", names_[i], error.message);
        error.node = names_[i];
        return Forward(std::move(error));
      }
      read = std::move(*found);
    }
    subgraphs_.push_back(std::move(read));
    node_of_.emplace(names_[i], i);
    for (const std::string& output : node.output()) producer_.emplace(output, i);
  }
  for (const auto* infos : {&graph().value_info(), &graph().output(), &graph().input()}) {
    for (const onnx_wire::ValueInfo& info : *infos) infos_.emplace(info.name(), &info);
  }
  OCTAVO_CHECK(SortAll());
  LeaveUnknown();
  return {};
}

// Subgraphs read values of the graph around them, as operands do.
Status Cutter::SortAll() {
  onnx_wire::Graph all;
  std::unordered_set<std::string> known;
  for (const onnx_wire::Tensor& tensor : graph().initializer()) known.insert(tensor.name());
  for (const onnx_wire::ValueInfo& input : graph().input()) {
    if (known.insert(input.name()).second && !IsHeldByGraphs(input)) {
      other_inputs_.insert(input.name());
    }
  }
  for (int i = 0; i < graph().node_size(); ++i) {
    onnx_wire::Node& node = *all.add_node();
    node.set_op_type(graph().node(i).op_type());
    for (const std::string& read : ReadsOf(static_cast<size_t>(i))) node.add_input(read);
    *node.mutable_output() = graph().node(i).output();
  }
  OCTAVO_TRY(order_, SortNodes(all, names_, known));
  return {};
}

std::vector<std::string> Cutter::ReadsOf(size_t node) const {
  const auto& inputs = graph().node(static_cast<int>(node)).input();
  std::vector<std::string> reads(inputs.begin(), inputs.end());
  std::erase(reads, "");
  const std::vector<std::string>& captured = subgraphs_[node].captured;
  reads.insert(reads.end(), captured.begin(), captured.end());
  return reads;
}

void Cutter::LeaveUnknown() {
  for (size_t i = 0; i < left_.size(); ++i) {
    const onnx_wire::Node& node = graph().node(static_cast<int>(i));
    if (!subgraphs_[i].attribute.empty()) {
      left_[i] = {.out = true,
                  .reason = fmt::format("{} has a subgraph '{}'; control flow is not supported",
                                        Described(node), subgraphs_[i].attribute)};
    } else if (!IsKnownOp(node, options_.find_op)) {
      left_[i] = {.out = true, .reason = Described(node) + " is not supported"};
    }
  }
}

bool Cutter::Leave(const std::vector<Refused>& refused) {
  bool any = false;
  for (const Refused& each : refused) {
    const auto at = node_of_.find(each.node);
    if (at == node_of_.end() || left_[at->second].out) continue;
    left_[at->second] = {.out = true, .reason = ReasonOf(each.error)};
    any = true;
  }
  return any;
}

bool Cutter::Whole() const {
  return other_inputs_.empty() && std::ranges::none_of(left_, &Left::out);
}

onnx_wire::ValueInfo Cutter::TypeOf(size_t node, const std::string& name) const {
  const auto declared = infos_.find(name);
  if (declared != infos_.end()) return *declared->second;
  return InferredInfo(graph().node(static_cast<int>(node)), raw_.nodes[node], name);
}

Status Cutter::Hold(const std::string& name) {
  if (!options_.array_of || held_.contains(name)) return {};
  const std::optional<ir::Type> array = options_.array_of(name);
  if (!array) return {};
  const onnx_wire::ValueInfo type = TypeOf(producer_.at(name), name);
  OCTAVO_TRY(const auto info, HeldInfo(name, type, *array, options_.shapes));
  if (info) held_.emplace(name, *info);
  return {};
}

Status Cutter::Follow() {
  lost_.clear();
  held_.clear();
  for (const std::string& input : other_inputs_) lost_.emplace(input, "");
  for (const int i : order_) {
    const auto at = static_cast<size_t>(i);
    Left& left = left_[at];
    if (left.follows) left = {};
    std::string blamed = names_[at];
    for (const std::string& input : graph().node(i).input()) {
      const auto lost = lost_.find(input);
      if (left.out || lost == lost_.end()) continue;
      blamed = lost->second;
      left = {.out = true,
              .follows = true,
              .reason = blamed.empty()
                            ? fmt::format("its input '{}' is of a type that Octavo does "
                                          "not support",
                                          input)
                            : fmt::format("it follows '{}', whose results are not known", blamed)};
    }
    if (!left.out) continue;
    for (const std::string& output : graph().node(i).output()) {
      if (output.empty()) continue;
      OCTAVO_CHECK(Hold(output));
      if (!held_.contains(output)) lost_.emplace(output, blamed);
    }
  }
  return {};
}

Result<onnx_wire::Model> Cutter::Rest() {
  OCTAVO_CHECK(Follow());
  onnx_wire::Model model = proto_.model;
  onnx_wire::Graph& rest = *model.mutable_graph();
  OCTAVO_CHECK(AddRest(rest));
  OCTAVO_CHECK(AddHanded(rest));
  return model;
}

Status Cutter::AddRest(onnx_wire::Graph& rest) {
  rest.clear_node();
  rest.clear_value_info();
  std::unordered_set<std::string> read, read_outside;
  for (size_t i = 0; i < left_.size(); ++i) {
    for (const std::string& name : ReadsOf(i)) (left_[i].out ? read_outside : read).insert(name);
    if (left_[i].out) continue;
    onnx_wire::Node& node = *rest.add_node();
    node = graph().node(static_cast<int>(i));
    node.set_name(names_[i]);
  }
  std::erase_if(held_, [&](const auto& entry) { return !read.contains(entry.first); });
  for (const onnx_wire::ValueInfo& output : graph().output()) read.insert(output.name());
  std::unordered_set<std::string> not_inputs = other_inputs_;
  rest.clear_initializer();
  kept_tensors_.clear();
  for (const onnx_wire::Tensor& tensor : graph().initializer()) {
    if (!read.contains(tensor.name()) && read_outside.contains(tensor.name())) {
      not_inputs.insert(tensor.name());  // which old models also list as an input
      continue;
    }
    kept_tensors_.insert(tensor.name());
    *rest.add_initializer() = tensor;
  }
  rest.clear_input();
  for (const onnx_wire::ValueInfo& input : graph().input()) {
    if (!not_inputs.contains(input.name())) *rest.add_input() = input;
  }
  for (const auto& [name, info] : held_) *rest.add_input() = info;
  rest.clear_output();
  for (const onnx_wire::ValueInfo& output : graph().output()) {
    const auto producer = producer_.find(output.name());
    const bool outside = producer != producer_.end() && left_[producer->second].out;
    if (!outside && !IsLost(output.name())) *rest.add_output() = output;
  }
  return {};
}

Status Cutter::AddHanded(onnx_wire::Graph& rest) {
  handed_.clear();
  std::unordered_set<std::string> listed;
  for (const onnx_wire::ValueInfo& output : rest.output()) listed.insert(output.name());
  for (size_t i = 0; i < left_.size(); ++i) {
    if (!left_[i].out) continue;
    for (const std::string& name : ReadsOf(i)) {
      const auto producer = producer_.find(name);
      const bool computed = producer != producer_.end() && !left_[producer->second].out;
      if ((!computed && !kept_tensors_.contains(name)) || !listed.insert(name).second) continue;
      handed_.push_back(name);
      const auto info = infos_.find(name);
      onnx_wire::ValueInfo& output = *rest.add_output();
      if (info != infos_.end()) output = *info->second;
      output.set_name(name);
    }
  }
  return {};
}

std::vector<std::string> Cutter::InnerNames() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < left_.size(); ++i) {
    if (!left_[i].out) continue;
    const std::vector<std::string>& defined = subgraphs_[i].defined;
    names.insert(names.end(), defined.begin(), defined.end());
  }
  for (const onnx_wire::Tensor& tensor : graph().initializer()) {
    if (!kept_tensors_.contains(tensor.name())) names.push_back(tensor.name());
  }
  return names;
}

std::vector<std::string> Cutter::LostNames() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < left_.size(); ++i) {
    if (!left_[i].out) continue;
    const auto& outputs = graph().node(static_cast<int>(i)).output();
    names.insert(names.end(), outputs.begin(), outputs.end());
  }
  return names;
}

Status Cutter::AddNodes(OpaquePart& part) const {
  for (const int i : order_) {
    const auto at = static_cast<size_t>(i);
    const onnx_wire::Node& node = graph().node(i);
    if (!left_[at].out) continue;
    onnx_wire::Node message;
    if (raw_.nodes[at].size() > kMostBytes ||
        !message.ParseFromArray(raw_.nodes[at].bytes().data(),
                                static_cast<int>(raw_.nodes[at].size()))) {
      return Fail(Code::kInvalidArgument, "node '{}' cannot be read", names_[at]).Node(names_[at]);
    }
    Subgraphs read = subgraphs_[at];
    // Begin read only nodes whose attributes may hold a subgraph.
    if (read.attribute.empty()) {
      OCTAVO_TRY(read, ReadSubgraphs(raw_.nodes[at]));
    }
    if (read.external) {
      return Fail(Code::kUnimplemented,
                  "node '{}': operator '{}' keeps elements in an external file; only initializers "
                  "of the model may",
                  names_[at], node.op_type())
          .Node(names_[at])
          .Reason("UNSUPPORTED_OPERATOR");
    }
    message.set_name(names_[at]);
    OpaqueNode& opaque = part.nodes.emplace_back();
    opaque = {.name = names_[at],
              .op = node.op_type(),
              .domain = node.domain() == "ai.onnx" ? "" : node.domain(),
              .reason = left_[at].reason,
              .follows = left_[at].follows,
              .bytes = message.SerializeAsString(),
              .reads = ReadsOf(at),
              .results = {node.output().begin(), node.output().end()},
              .inner = read.defined,
              .own_ops = read.own_ops};
    std::erase(opaque.results, "");
  }
  return {};
}

Status Cutter::AddTensors(OpaquePart& part) const {
  const TensorSource source{proto_.views, options_.external};
  for (size_t i = 0; i < raw_.initializers.size(); ++i) {
    const onnx_wire::Tensor& tensor = graph().initializer(static_cast<int>(i));
    if (kept_tensors_.contains(tensor.name())) continue;
    if (DTypeOfWire(tensor.data_type()) && !IsFourBit(tensor.data_type())) {
      OCTAVO_TRY(ir::Tensor read, ReadTensor(tensor, source));
      part.tensors.emplace_back(tensor.name(), std::move(read));
    } else if (tensor.data_location() == onnx_wire::Tensor::EXTERNAL) {
      return Fail(Code::kUnimplemented, "initializer '{}' of type {} is in an external file",
                  tensor.name(), WireName(tensor.data_type()))
          .Field(tensor.name());
    } else {
      part.other_tensors.push_back({tensor.name(), std::string(raw_.initializers[i].text())});
    }
  }
  return {};
}

void Cutter::AddInterface(OpaquePart& part) const {
  for (int i = 0; i < graph().input_size(); ++i) {
    const std::string& name = graph().input(i).name();
    part.inputs.push_back(name);
    if (!other_inputs_.contains(name)) continue;
    part.input_infos.emplace(name, raw_.inputs[static_cast<size_t>(i)].text());
  }
  for (int i = 0; i < graph().output_size(); ++i) {
    const std::string& name = graph().output(i).name();
    part.outputs.push_back(name);
    const auto producer = producer_.find(name);
    const bool outside = producer != producer_.end() && left_[producer->second].out;
    if (!outside && !other_inputs_.contains(name)) continue;
    part.output_infos.emplace(name, raw_.outputs[static_cast<size_t>(i)].text());
  }
  for (int i = 0; i < graph().value_info_size(); ++i) {
    const std::string& name = graph().value_info(i).name();
    const auto producer = producer_.find(name);
    if (producer == producer_.end() || !left_[producer->second].out) continue;
    part.value_infos.push_back(
        {name, std::string(raw_.value_infos[static_cast<size_t>(i)].text())});
  }
}

Status Cutter::AddTypes(OpaquePart& part) const {
  for (const OpaqueNode& node : part.nodes) {
    for (const std::string& result : node.results) {
      onnx_wire::ValueInfo info = TypeOf(node_of_.at(node.name), result);
      const auto shape = options_.shapes.find(result);
      if (shape != options_.shapes.end()) OCTAVO_CHECK(BindInfo(shape->second, info));
      const bool known = info.type().tensor_type().elem_type() != 0;
      if (shape != options_.shapes.end() && known && !infos_.contains(result)) {
        part.value_infos.push_back({result, info.SerializeAsString()});
      }
      part.types.emplace(result, DescribedType(info));
    }
  }
  return {};
}

Result<OpaquePart> Cutter::Part() const {
  OpaquePart part;
  OCTAVO_CHECK(AddNodes(part));
  OCTAVO_CHECK(AddTensors(part));
  AddInterface(part);
  OCTAVO_CHECK(AddTypes(part));
  for (const Blob& function : raw_.functions) part.functions.emplace_back(function.text());
  for (const auto& [name, info] : held_) part.held.push_back(name);
  part.handed = handed_;
  return part;
}

}  // namespace octavo::onnx
