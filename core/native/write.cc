// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <map>

#include "core/base/sha256.h"
#include "core/ir/four_bits.h"
#include "core/native/dtype_words.h"
#include "core/native/native.h"
#include "core/native/payload_scan.h"

namespace octavo::native {
namespace {

class Writer {
 public:
  explicit Writer(const ir::Graph& graph) : graph_(graph) {}

  std::string Run() {
    wire_.set_octavo_graph(1);
    wire_.set_name(graph_.graph_name);
    for (const auto& [domain, version] : graph_.opsets) {
      v1::OpsetImport& opset = *wire_.add_opsets();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    Values();
    for (const ir::NodeId id : graph_.nodes()) Node(graph_.node(id));
    for (const ir::ValueId id : graph_.outputs()) wire_.add_outputs(graph_.name(id));
    OldNames();
    wire_.mutable_metadata()->insert(graph_.metadata.begin(), graph_.metadata.end());
    return Serialize();
  }

 private:
  // Inputs, then constants by name, then results in the order of their nodes: the order in which
  // values were made is no part of what a graph is.
  void Values() {
    for (const ir::ValueId id : graph_.inputs()) {
      wire_.add_inputs(graph_.name(id));
      Value(graph_.value(id));
    }
    std::vector<const ir::Value*> constants;
    for (size_t i = 0; i < graph_.value_bound(); ++i) {
      const ir::Value& value = graph_.value(ir::ValueId{static_cast<int32_t>(i)});
      if (!value.erased && value.constant) constants.push_back(&value);
    }
    std::sort(constants.begin(), constants.end(),
              [](const ir::Value* a, const ir::Value* b) { return a->name < b->name; });
    for (const ir::Value* constant : constants) Value(*constant);
    for (const ir::NodeId id : graph_.nodes()) {
      for (const ir::ValueId result : graph_.node(id).results) Value(graph_.value(result));
    }
  }

  void Value(const ir::Value& value) {
    v1::Value& wire = *wire_.add_values();
    wire.set_name(value.name);
    TypeTo(value.type, *wire.mutable_type());
    if (value.type.range) {
      wire.mutable_range()->set_low(value.type.range->min);
      wire.mutable_range()->set_high(value.type.range->max);
    }
    if (value.constant) {
      wire.mutable_constant()->set_payload_index(IndexOf(value.constant->tensor));
    }
  }

  static void TypeTo(const ir::Type& type, v1::Type& wire) {
    wire.set_dtype(ToWire(type.dtype));
    wire.mutable_shape()->mutable_dims()->Assign(type.shape.begin(), type.shape.end());
    if (!type.quant) return;
    v1::Quant& quant = *wire.mutable_quant();
    quant.mutable_scales()->Assign(type.quant->scales.begin(), type.quant->scales.end());
    quant.mutable_zero_points()->Assign(type.quant->zero_points.begin(),
                                        type.quant->zero_points.end());
    if (type.quant->axis) quant.set_axis(*type.quant->axis);
    quant.set_block(type.quant->block);
  }

  uint32_t IndexOf(const ir::Tensor& tensor) {
    const Blob bytes = ir::ToStored(tensor);
    const auto [at, fresh] =
        numbers_.emplace(Sha256Of(bytes.bytes()), static_cast<uint32_t>(payloads_.size()));
    if (fresh) payloads_.push_back(bytes);
    return at->second;
  }

  void Node(const ir::Node& node) {
    v1::Node& wire = *wire_.add_nodes();
    wire.set_name(node.name);
    wire.set_op(std::string(node.op->name));
    wire.set_domain(std::string(node.op->domain));
    for (const ir::ValueId id : node.inputs) wire.add_inputs(id ? graph_.name(id) : "");
    for (const ir::ValueId id : node.results) wire.add_outputs(graph_.name(id));
    for (const auto& [name, value] : node.attributes) {
      std::visit(AttributeTo{*this, (*wire.mutable_attributes())[name]}, value);
    }
    for (const std::string& name : node.origin) wire.add_origin(name);
  }

  struct AttributeTo {
    Writer& writer;
    v1::Attribute& wire;

    void operator()(int64_t value) const { wire.set_i(value); }
    void operator()(float value) const { wire.set_f(value); }
    void operator()(const std::string& value) const { wire.set_s(value); }
    void operator()(const std::vector<int64_t>& list) const {
      wire.mutable_ints()->mutable_values()->Assign(list.begin(), list.end());
    }
    void operator()(const std::vector<float>& list) const {
      wire.mutable_floats()->mutable_values()->Assign(list.begin(), list.end());
    }
    void operator()(const std::vector<std::string>& list) const {
      wire.mutable_strings()->mutable_values()->Assign(list.begin(), list.end());
    }
    void operator()(const ir::PayloadPtr& payload) const {
      const ir::Tensor& tensor = payload->tensor;
      TypeTo({tensor.dtype(), tensor.shape(), {}, {}}, *wire.mutable_tensor()->mutable_type());
      wire.mutable_tensor()->mutable_data()->set_payload_index(writer.IndexOf(tensor));
    }
  };

  void OldNames() {
    std::vector<std::string> retired(graph_.retired().begin(), graph_.retired().end());
    for (const auto& [name, carrier] : graph_.aliases()) {
      if (graph_.Find(name)) continue;
      const ir::ValueId id = graph_.Resolve(name);
      if (!id) {
        retired.push_back(name);
        continue;
      }
      v1::Alias& alias = *wire_.add_aliases();
      alias.set_name(name);
      alias.set_value(graph_.name(id));
    }
    std::sort(retired.begin(), retired.end());
    retired.erase(std::unique(retired.begin(), retired.end()), retired.end());
    for (const std::string& name : retired) {
      if (!graph_.Find(name)) wire_.add_retired(name);
    }
  }

  std::string Serialize() const {
    std::string bytes;
    {
      google::protobuf::io::StringOutputStream stream(&bytes);
      google::protobuf::io::CodedOutputStream out(&stream);
      out.SetSerializationDeterministic(true);  // maps in the order of their keys
      wire_.SerializeToCodedStream(&out);
    }
    for (const Blob& payload : payloads_) AppendPayload(bytes, payload.bytes());
    return bytes;
  }

  const ir::Graph& graph_;
  v1::Graph wire_;
  std::map<std::string, uint32_t> numbers_;  // by digest
  std::vector<Blob> payloads_;
};

}  // namespace

std::string Write(const ir::Graph& graph) { return Writer(graph).Run(); }

}  // namespace octavo::native
