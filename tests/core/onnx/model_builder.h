// SPDX-License-Identifier: Apache-2.0
// Builds small models for tests with one call per part.
#pragma once

#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/tensor.h"
#include "core/onnx/wire/onnx.pb.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {

// Marks an extent that the model leaves dynamic.
inline constexpr int64_t kOpen = -1;

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 13) {
    model_.set_ir_version(8);
    auto* own = model_.add_opset_import();
    own->set_domain("");
    own->set_version(opset);
    model_.mutable_graph()->set_name("g");
  }

  onnx_wire::Model& model() { return model_; }
  onnx_wire::Graph& graph() { return *model_.mutable_graph(); }

  ModelBuilder& Input(const std::string& name, const ir::Shape& shape,
                      int type = onnx_wire::Tensor::FLOAT, const std::string& symbol = "N") {
    Describe(*graph().add_input(), name, shape, type, symbol);
    return *this;
  }
  ModelBuilder& Output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  ModelBuilder& Constant(const std::string& name, const ir::Tensor& tensor) {
    WriteTensor(name, tensor, *graph().add_initializer());
    return *this;
  }
  // The attribute functions below refer to the node added last.
  ModelBuilder& Node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::string& name = "") {
    auto* node = graph().add_node();
    node->set_op_type(op);
    node->set_name(name);
    for (const auto& input : inputs) node->add_input(input);
    for (const auto& output : outputs) node->add_output(output);
    return *this;
  }
  // Sets the domain of the node added last.
  ModelBuilder& Domain(const std::string& domain) {
    graph().mutable_node(graph().node_size() - 1)->set_domain(domain);
    for (const auto& opset : model_.opset_import()) {
      if (opset.domain() == domain) return *this;
    }
    auto* opset = model_.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(1);
    return *this;
  }
  ModelBuilder& Int(const std::string& name, int64_t value) {
    auto& attribute = Attribute(name, onnx_wire::Attribute::INT);
    attribute.set_i(value);
    return *this;
  }
  ModelBuilder& Float(const std::string& name, float value) {
    auto& attribute = Attribute(name, onnx_wire::Attribute::FLOAT);
    attribute.set_f(value);
    return *this;
  }
  ModelBuilder& String(const std::string& name, const std::string& value) {
    auto& attribute = Attribute(name, onnx_wire::Attribute::STRING);
    attribute.set_s(value);
    return *this;
  }
  ModelBuilder& Ints(const std::string& name, const std::vector<int64_t>& values) {
    auto& attribute = Attribute(name, onnx_wire::Attribute::INTS);
    for (const int64_t value : values) attribute.add_ints(value);
    return *this;
  }
  ModelBuilder& Floats(const std::string& name, const std::vector<float>& values) {
    auto& attribute = Attribute(name, onnx_wire::Attribute::FLOATS);
    for (const float value : values) attribute.add_floats(value);
    return *this;
  }

  ModelBuilder& Graph(const std::string& name, ModelBuilder& body) {
    Attribute(name, onnx_wire::Attribute::GRAPH).set_g(body.graph().SerializeAsString());
    return *this;
  }

  std::string Text() const { return model_.SerializeAsString(); }
  Blob Build() const { return Blob(Text()); }

 private:
  onnx_wire::Attribute& Attribute(const std::string& name, int type) {
    auto* attribute = graph().mutable_node(graph().node_size() - 1)->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return *attribute;
  }
  static void Describe(onnx_wire::ValueInfo& info, const std::string& name, const ir::Shape& shape,
                       int type, const std::string& symbol) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    auto& extents = *tensor.mutable_shape();
    for (const int64_t extent : shape) {
      auto* dimension = extents.add_dim();
      if (extent == kOpen) {
        dimension->set_dim_param(symbol);
      } else {
        dimension->set_dim_value(extent);
      }
    }
  }

  onnx_wire::Model model_;
};

}  // namespace octavo::onnx
