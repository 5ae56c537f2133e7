// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/held_types.h"

#include <algorithm>

#include "core/onnx/import/bind_inputs.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

// A tensor of the extents; -1 is an open one.
onnx_wire::ValueInfo InfoOf(const std::string& name, int elements, const ir::Shape& shape) {
  onnx_wire::ValueInfo info;
  info.set_name(name);
  onnx_wire::TensorType& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(elements);
  onnx_wire::Shape& extents = *tensor.mutable_shape();
  for (const int64_t extent : shape) {
    onnx_wire::Dimension& dimension = *extents.add_dim();
    if (extent >= 0) dimension.set_dim_value(extent);
  }
  return info;
}

// The type of a subgraph's output is that of the result in its place.
onnx_wire::ValueInfo InfoOfBody(const Blob& raw, std::string_view attribute, int place,
                                const std::string& name) {
  onnx_wire::Node node;
  onnx_wire::ValueInfo none;
  none.set_name(name);
  if (!node.ParseFromArray(raw.bytes().data(), static_cast<int>(raw.size()))) return none;
  for (const onnx_wire::Attribute& each : node.attribute()) {
    onnx_wire::Graph body;
    if (each.name() != attribute || !body.ParseFromString(each.g())) continue;
    if (place >= body.output_size()) return none;
    onnx_wire::ValueInfo info = body.output(place);
    info.set_name(name);
    return info;
  }
  return none;
}

}  // namespace

onnx_wire::ValueInfo InferredInfo(const onnx_wire::Node& node, const Blob& raw,
                                  const std::string& name) {
  using Tensor = onnx_wire::Tensor;
  const auto place =
      static_cast<int>(std::ranges::find(node.output(), name) - node.output().begin());
  const bool own = node.domain().empty() || node.domain() == "ai.onnx";
  const std::string& op = node.op_type();
  if (own && op == "NonMaxSuppression") return InfoOf(name, Tensor::INT64, {-1, 3});
  if (own && op == "NonZero") return InfoOf(name, Tensor::INT64, {-1, -1});
  if (own && op == "If") return InfoOfBody(raw, "then_branch", place, name);
  // The values that the loop carries; its body also computes the condition, in the first place.
  if (own && op == "Loop" && place + 2 < node.input_size()) {
    return InfoOfBody(raw, "body", place + 1, name);
  }
  onnx_wire::ValueInfo info;
  info.set_name(name);
  return info;
}

Status BindInfo(const ir::Shape& shape, onnx_wire::ValueInfo& info) {
  onnx_wire::TensorType& type = *info.mutable_type()->mutable_tensor_type();
  const bool declared = type.has_shape();
  onnx_wire::Shape& extents = *type.mutable_shape();
  bool fits = !declared || extents.dim_size() == static_cast<int>(shape.size());
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    onnx_wire::Dimension& extent =
        declared ? *extents.mutable_dim(static_cast<int>(i)) : *extents.add_dim();
    fits = !extent.has_dim_value() || extent.dim_value() <= 0 || extent.dim_value() == shape[i];
    extent.clear_dim_param();
    extent.set_dim_value(shape[i]);
  }
  if (fits) return {};
  return Fail(Code::kUsage, "--shape {}={}: the model declares another shape", info.name(),
              fmt::join(shape, ","))
      .Field("shape");
}

OpaqueType DescribedType(const onnx_wire::ValueInfo& info) {
  OpaqueType type;
  const int elements = info.type().tensor_type().elem_type();
  const auto dtype = DTypeOfWire(elements);
  if (elements != 0) type.elements = dtype ? ir::Name(*dtype) : WireName(elements);
  const auto extents = DeclaredShape(info);
  if (!extents || !*extents) return type;
  type.extents.emplace();
  for (const Extent& extent : **extents) {
    type.extents->push_back(extent.value            ? fmt::format("{}", *extent.value)
                            : extent.symbol.empty() ? "?"
                                                    : extent.symbol);
  }
  return type;
}

Result<std::optional<onnx_wire::ValueInfo>> HeldInfo(
    const std::string& name, const onnx_wire::ValueInfo& declared, const ir::Type& array,
    const std::map<std::string, ir::Shape>& shapes) {
  const auto extents = DeclaredShape(declared);
  if (!extents) return std::optional<onnx_wire::ValueInfo>();
  const int known = declared.type().tensor_type().elem_type();
  if (known != 0 && !DTypeOfWire(known)) return std::optional<onnx_wire::ValueInfo>();
  const int elements = known != 0 ? known : WireOf(array.dtype);
  const auto option = shapes.find(name);
  const ir::Shape& have = array.shape;
  const size_t axes = *extents                 ? (*extents)->size()
                      : option != shapes.end() ? option->second.size()
                                               : have.size();
  ir::Shape shape(axes, -1);
  for (size_t i = 0; i < axes && *extents; ++i) shape[i] = (**extents)[i].value.value_or(-1);
  if (option != shapes.end()) return std::optional(InfoOf(name, elements, shape));
  if (have.empty() || (have.size() != axes && have.size() != axes + 1)) {
    return Fail(Code::kInvalidArgument,
                "value '{}' has {} axes, but its array has shape [{}]; the leading axis of the "
                "array counts samples",
                name, axes, fmt::join(have, ","))
        .Field(name)
        .Reason("INVALID_SAMPLES");
  }
  // An array of as many axes as the value has samples along its batch, which stays open.
  const size_t more = have.size() - axes;
  for (size_t i = more == 0 ? 1 : 0; i < axes; ++i) {
    if (shape[i] < 0) shape[i] = have[i + more];
  }
  return std::optional(InfoOf(name, elements, shape));
}

}  // namespace octavo::onnx
