// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/raw_model.h"

#include <optional>
#include <string_view>
#include <unordered_set>

namespace octavo::onnx {
namespace {

Failure Malformed(std::string_view what) {
  return Fail(Code::kInvalidArgument, "not a valid ONNX model: {}", what).Reason("MALFORMED");
}

struct Field {
  int number = 0;
  bool is_bytes = false;
  uint64_t value = 0;             // of a varint
  std::string_view content = {};  // of bytes
};

// Walks the fields of one message.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  // nullopt at the end.
  Result<std::optional<Field>> Next() {
    if (at_ >= bytes_.size()) return std::optional<Field>();
    OCTAVO_TRY(const uint64_t tag, Varint());
    Field field;
    field.number = static_cast<int>(std::min<uint64_t>(tag >> 3, 1 << 29));
    uint64_t length = 0;
    switch (tag & 7) {
      case 0: {
        OCTAVO_TRY(field.value, Varint());
        return std::optional(field);
      }
      case 1:
        length = 8;
        break;
      case 5:
        length = 4;
        break;
      case 2: {
        OCTAVO_TRY(length, Varint());
        field.is_bytes = true;
        break;
      }
      default:
        return Malformed("a group or an unknown wire type");
    }
    if (length > bytes_.size() - at_) return Malformed("a field passes the end");
    if (field.is_bytes) field.content = bytes_.substr(at_, length);
    at_ += length;
    return std::optional(field);
  }

 private:
  Result<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Malformed("a varint passes the end");
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

// Calls `visit` with each field; its error ends the walk.
template <class Visit>
Status ForEach(std::string_view bytes, const Visit& visit) {
  Fields fields(bytes);
  while (true) {
    OCTAVO_TRY(const std::optional<Field> field, fields.Next());
    if (!field) return {};
    OCTAVO_CHECK(visit(*field));
  }
}

// Field numbers of ONNX's messages.
constexpr int kModelGraph = 7, kModelFunctions = 25;
constexpr int kGraphNode = 1, kGraphInitializer = 5, kGraphInput = 11, kGraphOutput = 12,
              kGraphValueInfo = 13, kGraphSparse = 15;
constexpr int kNodeInput = 1, kNodeOutput = 2, kNodeOp = 4, kNodeAttribute = 5, kNodeDomain = 7;
constexpr int kAttributeName = 1, kAttributeTensor = 5, kAttributeGraph = 6, kAttributeTensors = 10,
              kAttributeGraphs = 11, kAttributeSparse = 22, kAttributeSparses = 23;
constexpr int kTensorName = 8, kTensorLocation = 14, kInfoName = 1, kSparseValues = 1;

using Names = std::unordered_set<std::string_view>;

class SubgraphReader {
 public:
  explicit SubgraphReader(const SubgraphLimits& limits) : limits_(limits) {}

  Result<Subgraphs> Run(std::string_view node) {
    OCTAVO_CHECK(Node(node, 0));
    for (const std::string_view name : captured_) found_.captured.emplace_back(name);
    for (const std::string_view op : ops_) found_.own_ops.emplace_back(op);
    return std::move(found_);
  }

 private:
  Status Count() {
    if (++fields_ <= limits_.fields) return {};
    return Fail(Code::kTooLarge, "a subgraph has more than {} fields", limits_.fields);
  }

  Status Node(std::string_view bytes, int depth) {
    std::string_view op, domain;
    OCTAVO_CHECK(ForEach(bytes, [&](const Field& field) -> Status {
      OCTAVO_CHECK(Count());
      if (field.number == kNodeInput && depth > 0) Read(field.content);
      if (field.number == kNodeOp) op = field.content;
      if (field.number == kNodeDomain) domain = field.content;
      return field.number == kNodeAttribute ? Attribute(field.content, depth) : Status();
    }));
    if (domain.empty() || domain == "ai.onnx") Add(op, seen_ops_, ops_);
    return {};
  }

  Status Attribute(std::string_view bytes, int depth) {
    std::string_view name;
    return ForEach(bytes, [&](const Field& field) -> Status {
      OCTAVO_CHECK(Count());
      switch (field.number) {
        case kAttributeName:
          name = field.content;
          return {};
        case kAttributeTensor:
        case kAttributeTensors:
          return Tensor(field.content, nullptr);
        case kAttributeSparse:
        case kAttributeSparses:
          return Sparse(field.content, nullptr);
        case kAttributeGraph:
        case kAttributeGraphs:
          if (depth == 0 && found_.attribute.empty()) {
            found_.attribute = name.empty() ? "body" : name;
          }
          return Graph(field.content, depth + 1);
        default:
          return {};
      }
    });
  }

  Status Tensor(std::string_view bytes, std::string_view* name) {
    return ForEach(bytes, [&](const Field& field) -> Status {
      OCTAVO_CHECK(Count());
      if (field.number == kTensorName && name != nullptr) *name = field.content;
      if (field.number == kTensorLocation) found_.external |= field.value == 1;
      return {};
    });
  }

  Status Sparse(std::string_view bytes, std::string_view* name) {
    return ForEach(bytes, [&](const Field& field) -> Status {
      OCTAVO_CHECK(Count());
      if (!field.is_bytes) return {};
      return Tensor(field.content, field.number == kSparseValues ? name : nullptr);
    });
  }

  static Result<std::string_view> NameOf(std::string_view info) {
    std::string_view name;
    OCTAVO_CHECK(ForEach(info, [&](const Field& field) -> Status {
      if (field.number == kInfoName) name = field.content;
      return {};
    }));
    return name;
  }

  // The names that a subgraph defines.
  Status Define(std::string_view bytes, Names& names) {
    const auto define = [&](std::string_view name) {
      if (!name.empty() && names.insert(name).second) found_.defined.emplace_back(name);
    };
    return ForEach(bytes, [&](const Field& field) -> Status {
      OCTAVO_CHECK(Count());
      std::string_view name;
      switch (field.number) {
        case kGraphInput: {
          OCTAVO_TRY(name, NameOf(field.content));
          define(name);
          return {};
        }
        case kGraphInitializer:
          OCTAVO_CHECK(Tensor(field.content, &name));
          define(name);
          return {};
        case kGraphSparse:
          OCTAVO_CHECK(Sparse(field.content, &name));
          define(name);
          return {};
        case kGraphNode:
          return ForEach(field.content, [&](const Field& part) -> Status {
            OCTAVO_CHECK(Count());
            if (part.number == kNodeOutput) define(part.content);
            return {};
          });
        default:
          return {};
      }
    });
  }

  Status Graph(std::string_view bytes, int depth) {
    if (depth > limits_.depth) return Malformed("subgraphs nested too deeply");
    OCTAVO_CHECK(Define(bytes, scopes_.emplace_back()));
    OCTAVO_CHECK(ForEach(bytes, [&](const Field& field) -> Status {
      if (field.number == kGraphNode) return Node(field.content, depth);
      if (field.number != kGraphOutput) return {};
      OCTAVO_TRY(const std::string_view name, NameOf(field.content));
      Read(name);
      return {};
    }));
    scopes_.pop_back();
    return {};
  }

  void Read(std::string_view name) {
    for (const Names& scope : scopes_) {
      if (scope.contains(name)) return;
    }
    Add(name, seen_, captured_);
  }

  static void Add(std::string_view name, Names& seen, std::vector<std::string_view>& list) {
    if (!name.empty() && seen.insert(name).second) list.push_back(name);
  }

  const SubgraphLimits& limits_;
  Subgraphs found_;
  std::vector<Names> scopes_;
  Names seen_, seen_ops_;
  std::vector<std::string_view> captured_, ops_;
  int64_t fields_ = 0;
};

}  // namespace

Result<RawModel> SplitModel(const Blob& model) {
  RawModel raw;
  const auto add = [&](std::string_view content, std::vector<Blob>& list) {
    list.push_back(
        model.Slice(static_cast<size_t>(content.data() - model.text().data()), content.size()));
  };
  OCTAVO_CHECK(ForEach(model.text(), [&](const Field& field) -> Status {
    if (field.number == kModelFunctions) add(field.content, raw.functions);
    if (field.number != kModelGraph) return {};
    return ForEach(field.content, [&](const Field& part) -> Status {
      if (part.number == kGraphNode) add(part.content, raw.nodes);
      if (part.number == kGraphInitializer) add(part.content, raw.initializers);
      if (part.number == kGraphInput) add(part.content, raw.inputs);
      if (part.number == kGraphOutput) add(part.content, raw.outputs);
      if (part.number == kGraphValueInfo) add(part.content, raw.value_infos);
      return {};
    });
  }));
  return raw;
}

Result<Subgraphs> ReadSubgraphs(const Blob& node, const SubgraphLimits& limits) {
  return SubgraphReader(limits).Run(node.text());
}

}  // namespace octavo::onnx
