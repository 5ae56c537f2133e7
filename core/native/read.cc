// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <unordered_map>

#include "core/ir/canonical_quant.h"
#include "core/ir/four_bits.h"
#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "core/native/dtype_words.h"
#include "core/native/native.h"
#include "core/native/payload_scan.h"

namespace octavo::native {
namespace {

template <class... Args>
Failure Wrong(std::string_view field, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "{}: {}", field,
              fmt::format(format, std::forward<Args>(args)...))
      .Field(field);
}

class Reader {
 public:
  Reader(const v1::Graph& wire, const std::vector<Blob>& payloads, const OpLookup& find_op)
      : wire_(wire), payloads_(payloads), find_op_(find_op) {}

  Result<ir::Graph> Run() {
    graph_.graph_name = wire_.name();
    for (const v1::OpsetImport& opset : wire_.opsets()) {
      graph_.opsets[opset.domain()] = opset.version();
    }
    graph_.metadata.insert(wire_.metadata().begin(), wire_.metadata().end());
    OCTAVO_CHECK(Values());
    for (int i = 0; i < wire_.nodes_size(); ++i) OCTAVO_CHECK(Node(wire_.nodes(i), i));
    if (wire_.outputs().empty()) return Wrong("outputs", "a graph must have at least one");
    for (const std::string& name : wire_.outputs()) {
      OCTAVO_TRY(const ir::ValueId id, Known(name, "outputs"));
      graph_.AddOutput(id);
    }
    for (const v1::Alias& alias : wire_.aliases()) {
      OCTAVO_TRY(const ir::ValueId id, Known(alias.value(), "aliases"));
      graph_.AddAlias(alias.name(), id);
    }
    for (const std::string& name : wire_.retired()) graph_.AddRetired(name);
    OCTAVO_CHECK(Check());
    return std::move(graph_);
  }

 private:
  // Types of all values by name; inputs and constants become values of the graph at once.
  Status Values() {
    for (int i = 0; i < wire_.values_size(); ++i) {
      const v1::Value& value = wire_.values(i);
      const std::string field = fmt::format("values[{}] '{}'", i, value.name());
      OCTAVO_TRY(ir::Type type, TypeFrom(value.type(), field));
      if (value.has_range()) {
        type.range = ir::Range{static_cast<float>(value.range().low()),
                               static_cast<float>(value.range().high())};
      }
      if (type.quant) {
        if (const Status quant = ir::CheckQuant(value.name(), type); !quant) {
          return Wrong(field, "{}", quant.error().message);
        }
        type.quant = ir::Canonical(*std::move(type.quant));
      }
      if (value.name().empty()) return Wrong(field, "a value without a name");
      if (!types_.emplace(value.name(), type).second) return Wrong(field, "defined twice");
      if (!value.has_constant()) continue;
      OCTAVO_TRY(ir::PayloadPtr payload, PayloadFrom(value.constant(), type, field));
      graph_.AddConstant(value.name(), std::move(payload), std::move(type));
    }
    for (const std::string& name : wire_.inputs()) {
      const auto at = types_.find(name);
      if (at == types_.end()) return Wrong("inputs", "'{}' is not a value", name);
      if (graph_.Find(name)) return Wrong("inputs", "'{}' is defined twice", name);
      graph_.AddInput(name, at->second);
    }
    return {};
  }

  static Result<ir::Type> TypeFrom(const v1::Type& wire, const std::string& field) {
    const std::optional<ir::DType> dtype = FromWire(wire.dtype());
    if (!dtype) return Wrong(field, "has no known element type");
    ir::Type type{*dtype, {}, {}, {}};
    for (const int64_t extent : wire.shape().dims()) {
      if (extent < 0) return Wrong(field, "has extent {}, but must not be negative", extent);
      type.shape.push_back(extent);
    }
    if (!wire.has_quant()) return type;
    const v1::Quant& quant = wire.quant();
    ir::Quant& own = type.quant.emplace();
    own.scales.assign(quant.scales().begin(), quant.scales().end());
    own.zero_points.assign(quant.zero_points().begin(), quant.zero_points().end());
    if (own.zero_points.empty()) own.zero_points.assign(own.scales.size(), 0);
    if (quant.has_axis()) own.axis = quant.axis();
    const int64_t block = quant.block();
    if (block < 0 || block > std::numeric_limits<int>::max()) {
      return Wrong(field, "has block {}, but must have one from 0 to 2^31 - 1", block);
    }
    own.block = static_cast<int>(block);
    return type;
  }

  Result<ir::PayloadPtr> PayloadFrom(const v1::Constant& wire, const ir::Type& type,
                                     const std::string& field) const {
    if (wire.payload_index() >= payloads_.size()) {
      return Wrong(field, "names constant data {} of {}", wire.payload_index(), payloads_.size());
    }
    const Blob& bytes = payloads_[wire.payload_index()];
    const int64_t size = ir::StoredBytes(type.dtype, ir::NumElements(type.shape));
    if (bytes.size() != static_cast<uint64_t>(size)) {
      return Wrong(field, "is {}, but its data have {} bytes", ToString(type), bytes.size());
    }
    return ir::MakePayload(ir::FromStored(type.dtype, type.shape, bytes));
  }

  Result<ir::ValueId> Known(const std::string& name, std::string_view field) const {
    const ir::ValueId id = graph_.Find(name);
    if (!id) return Wrong(field, "'{}' is not computed before it is read", name);
    return id;
  }

  Status Node(const v1::Node& wire, int index) {
    const std::string field = fmt::format("nodes[{}] '{}'", index, wire.name());
    const ir::OpDef* op = find_op_(wire.op(), wire.domain());
    if (op == nullptr) {
      return Fail(Code::kUnimplemented, "{}: unknown op '{}' of domain '{}'", field, wire.op(),
                  wire.domain())
          .Node(wire.name());
    }
    ir::Graph::Definition definition{.name = wire.name(), .op = op};
    for (const std::string& name : wire.inputs()) {
      if (name.empty()) {
        definition.inputs.push_back({});
        continue;
      }
      OCTAVO_TRY(const ir::ValueId id, Known(name, field));
      definition.inputs.push_back(id);
    }
    for (const auto& [name, attribute] : wire.attributes()) {
      OCTAVO_TRY(ir::Attribute value, AttributeFrom(attribute, field + "." + name));
      definition.attributes.Set(name, std::move(value));
    }
    if (wire.outputs().empty()) return Wrong(field, "has no outputs");
    for (const std::string& name : wire.outputs()) {
      const auto at = types_.find(name);
      if (at == types_.end()) return Wrong(field, "output '{}' is not a value", name);
      if (graph_.Find(name)) return Wrong(field, "'{}' is defined twice", name);
      definition.results.emplace_back(name, at->second);
      // A result that is listed twice is found as soon as the node is there.
      for (size_t i = 0; i + 1 < definition.results.size(); ++i) {
        if (definition.results[i].first == name) return Wrong(field, "'{}' is defined twice", name);
      }
    }
    definition.origin.assign(wire.origin().begin(), wire.origin().end());
    return CheckTypes(graph_.AddNode(std::move(definition)), field);
  }

  Result<ir::Attribute> AttributeFrom(const v1::Attribute& wire, const std::string& field) const {
    switch (wire.value_case()) {
      case v1::Attribute::kI:
        return wire.i();
      case v1::Attribute::kF:
        return static_cast<float>(wire.f());
      case v1::Attribute::kS:
        return wire.s();
      case v1::Attribute::kInts:
        return std::vector<int64_t>(wire.ints().values().begin(), wire.ints().values().end());
      case v1::Attribute::kFloats:
        return std::vector<float>(wire.floats().values().begin(), wire.floats().values().end());
      case v1::Attribute::kStrings:
        return std::vector<std::string>(wire.strings().values().begin(),
                                        wire.strings().values().end());
      case v1::Attribute::kTensor: {
        OCTAVO_TRY(const ir::Type type, TypeFrom(wire.tensor().type(), field));
        OCTAVO_TRY(ir::PayloadPtr payload, PayloadFrom(wire.tensor().data(), type, field));
        return payload;
      }
      case v1::Attribute::VALUE_NOT_SET:
        break;
    }
    return Wrong(field, "an attribute without a value");
  }

  Status CheckTypes(ir::NodeId id, const std::string& field) {
    const ir::Node& node = graph_.node(id);
    const auto types = inference_.Infer(id);
    if (!types) {
      return Fail(types.error().code, "{}: {}", field, types.error().message).Node(node.name);
    }
    if (types->size() != node.results.size()) {
      return Wrong(field, "lists {} outputs, but {} makes {}", node.results.size(), node.op->name,
                   types->size());
    }
    for (size_t i = 0; i < types->size(); ++i) {
      const ir::Value& value = graph_.value(node.results[i]);
      if (value.type.Expressed() == (*types)[i]) continue;
      return Wrong(field, "'{}' is {}, but {} makes {}", value.name, ToString(value.type),
                   node.op->name, ToString((*types)[i]));
    }
    inference_.Learn(id);
    return {};
  }

  Status Check() {
    const Status verified = ir::Verify(graph_);
    if (verified) {
      graph_.SetVerified();
      return {};
    }
    return Fail(Code::kInvalidArgument, "{}", verified.error().message)
        .Node(verified.error().node)
        .Field(verified.error().field);
  }

  const v1::Graph& wire_;
  const std::vector<Blob>& payloads_;
  const OpLookup& find_op_;
  ir::Graph graph_;
  ir::Inference inference_{graph_};
  std::unordered_map<std::string, ir::Type> types_;
};

}  // namespace

Result<ir::Graph> Read(const Blob& bytes, const OpLookup& find_op) {
  OCTAVO_TRY(const Split split, SplitPayloads(bytes));
  v1::Graph wire;
  if (!wire.ParseFromString(split.skeleton)) {
    return Fail(Code::kInvalidArgument, "not an Octavo graph: its bytes are not an octavo.v1.Graph")
        .Reason("MALFORMED");
  }
  if (wire.octavo_graph() != 1) {
    return Wrong("octavo_graph", "is version {}; this reader knows version 1", wire.octavo_graph());
  }
  return Reader(wire, split.payloads, find_op).Run();
}

}  // namespace octavo::native
