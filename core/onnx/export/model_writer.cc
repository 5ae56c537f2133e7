// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/export/model_writer.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "core/ir/four_bits.h"
#include "core/onnx/export/put_back.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

using Wire = onnx_wire::Attribute;

// Smaller tensors stay in the model, so that reading shapes and axes does not need the file.
constexpr int64_t kSmallTensor = 1024;
constexpr size_t kAlignment = 64;

// One overload for each alternative of ir::Attribute.
void Write(int64_t value, Wire& out) {
  out.set_type(Wire::INT);
  out.set_i(value);
}
void Write(float value, Wire& out) {
  out.set_type(Wire::FLOAT);
  out.set_f(value);
}
void Write(const std::string& value, Wire& out) {
  out.set_type(Wire::STRING);
  out.set_s(value);
}
void Write(const std::vector<int64_t>& values, Wire& out) {
  out.set_type(Wire::INTS);
  for (const int64_t value : values) out.add_ints(value);
}
void Write(const std::vector<float>& values, Wire& out) {
  out.set_type(Wire::FLOATS);
  for (const float value : values) out.add_floats(value);
}
void Write(const std::vector<std::string>& values, Wire& out) {
  out.set_type(Wire::STRINGS);
  for (const std::string& value : values) out.add_strings(value);
}
void Write(const ir::PayloadPtr& payload, Wire& out) {
  out.set_type(Wire::TENSOR);
  WriteTensor("", payload->tensor, *out.mutable_t());
}

void AddEntry(onnx_wire::Tensor& tensor, const std::string& key, const std::string& value) {
  onnx_wire::StringEntry& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

void WriteOutside(const std::string& name, const ir::Tensor& tensor, const std::string& location,
                  std::string& file, onnx_wire::Tensor& proto) {
  file.resize((file.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
  for (const int64_t extent : tensor.shape()) proto.add_dims(extent);
  proto.set_data_type(WireOf(tensor.dtype()));
  proto.set_name(name);
  proto.set_data_location(onnx_wire::Tensor::EXTERNAL);
  AddEntry(proto, "location", location);
  AddEntry(proto, "offset", fmt::format("{}", file.size()));
  const Blob stored = ir::ToStored(tensor);
  AddEntry(proto, "length", fmt::format("{}", stored.size()));
  file.append(stored.text());
}

// Equal tensors of at least this size are stored once.
constexpr int64_t kWorthSharing = 1024;

bool Equal(const ir::Tensor& a, const ir::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0);
}

// A cheap hash that is the same for equal tensors.
size_t BeginningOf(const ir::Tensor& tensor) {
  const auto bytes = static_cast<size_t>(std::min<int64_t>(tensor.bytes(), 4096));
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(tensor.raw()), bytes});
}

}  // namespace

void ModelWriter::ShareEqual() {
  std::unordered_set<std::string> outputs;
  for (const onnx_wire::ValueInfo& output : graph().output()) outputs.insert(output.name());
  std::unordered_map<std::string, std::string> instead;
  std::vector<std::pair<std::string, std::string>> identities;
  std::unordered_multimap<size_t, size_t> kept_by_beginning;
  std::vector<Stored> kept;
  for (Stored& stored : initializers_) {
    const bool own = stored.named != Named::kOpaque;
    if (own && stored.tensor.bytes() >= kWorthSharing && !outputs.count(stored.name)) {
      const size_t beginning = BeginningOf(stored.tensor);
      const auto [first, last] = kept_by_beginning.equal_range(beginning);
      const auto equal = std::find_if(first, last, [&](const auto& entry) {
        return Equal(kept[entry.second].tensor, stored.tensor);
      });
      if (equal != last) {
        const std::string& same = kept[equal->second].name;
        if (stored.named == Named::kInternal) {
          instead.emplace(stored.name, same);
        } else {
          identities.emplace_back(stored.name, same);
          const ir::Type type{stored.tensor.dtype(), stored.tensor.shape(), {}, {}};
          Typed(stored.name, type);
          for (Types& types : sized_types_) types.insert_or_assign(stored.name, type);
        }
        continue;
      }
      kept_by_beginning.emplace(beginning, kept.size());
    }
    kept.push_back(std::move(stored));
  }
  initializers_ = std::move(kept);
  for (onnx_wire::Node& node : *graph().mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      if (const auto at = instead.find(input); at != instead.end()) input = at->second;
    }
  }
  AddIdentities(identities);
}

void ModelWriter::AddIdentities(
    const std::vector<std::pair<std::string, std::string>>& identities) {
  if (identities.empty()) return;
  auto& nodes = *graph().mutable_node();
  std::unordered_set<std::string> names;
  for (const onnx_wire::Node& node : nodes) names.insert(node.name());
  const int before = nodes.size();
  for (const auto& [result, operand] : identities) {
    std::string name = result;
    while (!names.insert(name).second) name += ".same";
    Node(name, "Identity", "", {operand}, {result}, {});
  }
  std::rotate(nodes.pointer_begin(), nodes.pointer_begin() + before, nodes.pointer_end());
}

void ModelWriter::Initializer(const std::string& name, const ir::Tensor& tensor, Named named) {
  if (initialized_.insert(name).second) initializers_.push_back({name, tensor, named});
}

void ModelWriter::Node(const std::string& name, const std::string& op, const std::string& domain,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs, const ir::AttrMap& attributes) {
  onnx_wire::Node& node = *graph().add_node();
  node.set_name(name);
  node.set_op_type(op);
  if (!domain.empty()) node.set_domain(domain);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  for (const auto& [key, value] : attributes) {
    Wire& attribute = *node.add_attribute();
    attribute.set_name(key);
    std::visit([&](const auto& alternative) { Write(alternative, attribute); }, value);
  }
}

void ModelWriter::AddValueInfo() {
  std::unordered_set<std::string_view> outputs;
  for (const onnx_wire::ValueInfo& output : graph().output()) outputs.insert(output.name());
  for (const onnx_wire::Node& node : graph().node()) {
    for (const std::string& result : node.output()) {
      const auto type = types_.find(result);
      if (outputs.contains(result) || type == types_.end()) continue;
      WriteValueInfo(result, type->second, *graph().add_value_info());
    }
  }
}

std::optional<std::string> ModelWriter::AddSize(ModelWriter other) {
  const int nodes = graph().node_size();
  for (int i = 0; i < nodes; ++i) {
    const onnx_wire::Node& node = graph().node(i);
    if (i >= other.graph().node_size()) return node.name();
    if (node.SerializeAsString() != other.graph().node(i).SerializeAsString()) return node.name();
  }
  if (nodes < other.graph().node_size()) return other.graph().node(nodes).name();
  const size_t stored = std::max(initializers_.size(), other.initializers_.size());
  for (size_t i = 0; i < stored; ++i) {
    if (i >= other.initializers_.size()) return initializers_[i].name;
    const Stored& theirs = other.initializers_[i];
    if (i >= initializers_.size()) return theirs.name;
    const Stored& own = initializers_[i];
    if (own.name != theirs.name || !Equal(own.tensor, theirs.tensor)) return own.name;
  }
  sized_types_.push_back(std::move(other.types_));
  return std::nullopt;
}

void ModelWriter::OpenDimensions(const OpenSizes& open, onnx_wire::ValueInfo& info) const {
  auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
  const auto declared = open.declared.find(info.name());
  for (int axis = 0; axis < dims.size(); ++axis) {
    const auto at = static_cast<size_t>(axis);
    std::vector<int64_t> extents = {dims[axis].dim_value()};
    for (const Types& types : sized_types_) {
      const auto type = types.find(info.name());
      const bool known = type != types.end() && at < type->second.shape.size();
      extents.push_back(known ? type->second.shape[at] : -1);
    }
    if (std::ranges::count(extents, extents.front()) == std::ssize(extents)) continue;
    dims[axis].Clear();
    std::optional<std::string> name;
    if (declared != open.declared.end() && at < declared->second.size()) {
      name = declared->second[at];
    }
    const auto symbol = std::ranges::find(open.symbols, extents, &OpenSizes::Symbol::extents);
    if (!name && symbol != open.symbols.end()) name = symbol->name;
    if (name && !name->empty()) dims[axis].set_dim_param(*name);
  }
}

Result<Exported> ModelWriter::Finish(const ExportOptions& options) {
  const OpaquePart* opaque = options.contract ? options.contract->opaque.get() : nullptr;
  if (opaque != nullptr) OCTAVO_CHECK(PutBackTensors(*opaque, *this));
  ShareEqual();
  AddValueInfo();
  if (options.open != nullptr) {
    for (auto* infos :
         {graph().mutable_input(), graph().mutable_output(), graph().mutable_value_info()}) {
      for (onnx_wire::ValueInfo& info : *infos) OpenDimensions(*options.open, info);
    }
  }
  if (opaque != nullptr) OCTAVO_CHECK(PutBackNodes(*opaque, model_));
  int64_t bytes = 0;
  for (const Stored& stored : initializers_) bytes += ir::StoredBytes(stored.tensor);
  const bool outside = bytes > options.external_limit;
  if (outside) OCTAVO_CHECK(CheckLocation(options.external_name));
  Exported exported;
  exported.nodes = graph().node_size();
  for (const auto& [name, tensor, named] : initializers_) {
    onnx_wire::Tensor& proto = *graph().add_initializer();
    if (outside && ir::StoredBytes(tensor) >= kSmallTensor) {
      WriteOutside(name, tensor, options.external_name, exported.external, proto);
    } else {
      WriteTensor(name, tensor, proto);
    }
  }
  if (options.contract != nullptr) WriteContract(*options.contract, model_);
  if (!model_.SerializeToString(&exported.model)) {
    return Fail(Code::kTooLarge, "the model takes more than 2 GiB even without its weights");
  }
  return exported;
}

void WriteValueInfo(const std::string& name, const ir::Type& type, onnx_wire::ValueInfo& info) {
  info.set_name(name);
  onnx_wire::TensorType& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(WireOf(type.dtype));
  onnx_wire::Shape& shape = *tensor.mutable_shape();
  for (const int64_t extent : type.shape) shape.add_dim()->set_dim_value(extent);
}

}  // namespace octavo::onnx
