// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/raw_model.h"

#include <string_view>
#include <unordered_set>

#include "core/onnx/wire/wire_fields.h"

namespace octavo::onnx {
namespace {

// Calls `visit` with each field and its content, which only a field of bytes has; its error ends
// the walk.
template <class Visit>
Status ForEach(std::string_view bytes, const Visit& visit) {
  for (size_t at = 0; at < bytes.size();) {
    OCTAVO_TRY(const Field field, NextField(bytes, at, bytes.size()));
    const size_t length = field.type == kWireBytes ? field.end - field.begin : 0;
    OCTAVO_CHECK(visit(field, bytes.substr(field.begin, length)));
  }
  return {};
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
    OCTAVO_CHECK(ForEach(bytes, [&](const Field& field, std::string_view content) -> Status {
      OCTAVO_CHECK(Count());
      if (field.number == kNodeInput && depth > 0) Read(content);
      if (field.number == kNodeOp) op = content;
      if (field.number == kNodeDomain) domain = content;
      return field.number == kNodeAttribute ? Attribute(content, depth) : Status();
    }));
    if (domain.empty() || domain == "ai.onnx") Add(op, seen_ops_, ops_);
    return {};
  }

  Status Attribute(std::string_view bytes, int depth) {
    std::string_view name;
    return ForEach(bytes, [&](const Field& field, std::string_view content) -> Status {
      OCTAVO_CHECK(Count());
      switch (field.number) {
        case kAttributeName:
          name = content;
          return {};
        case kAttributeTensor:
        case kAttributeTensors:
          return Tensor(content, nullptr);
        case kAttributeSparse:
        case kAttributeSparses:
          return Sparse(content, nullptr);
        case kAttributeGraph:
        case kAttributeGraphs:
          if (depth == 0 && found_.attribute.empty()) {
            found_.attribute = name.empty() ? "body" : name;
          }
          return Graph(content, depth + 1);
        default:
          return {};
      }
    });
  }

  Status Tensor(std::string_view bytes, std::string_view* name) {
    return ForEach(bytes, [&](const Field& field, std::string_view content) -> Status {
      OCTAVO_CHECK(Count());
      if (field.number == kTensorName && name != nullptr) *name = content;
      if (field.number == kTensorLocation) found_.external |= field.value == 1;
      return {};
    });
  }

  Status Sparse(std::string_view bytes, std::string_view* name) {
    return ForEach(bytes, [&](const Field& field, std::string_view content) -> Status {
      OCTAVO_CHECK(Count());
      if (field.type != kWireBytes) return {};
      return Tensor(content, field.number == kSparseValues ? name : nullptr);
    });
  }

  static Result<std::string_view> NameOf(std::string_view info) {
    std::string_view name;
    OCTAVO_CHECK(ForEach(info, [&](const Field& field, std::string_view content) -> Status {
      if (field.number == kInfoName) name = content;
      return {};
    }));
    return name;
  }

  // The names that a subgraph defines.
  Status Define(std::string_view bytes, Names& names) {
    const auto define = [&](std::string_view name) {
      if (!name.empty() && names.insert(name).second) found_.defined.emplace_back(name);
    };
    return ForEach(bytes, [&](const Field& field, std::string_view content) -> Status {
      OCTAVO_CHECK(Count());
      std::string_view name;
      switch (field.number) {
        case kGraphInput: {
          OCTAVO_TRY(name, NameOf(content));
          define(name);
          return {};
        }
        case kGraphInitializer:
          OCTAVO_CHECK(Tensor(content, &name));
          define(name);
          return {};
        case kGraphSparse:
          OCTAVO_CHECK(Sparse(content, &name));
          define(name);
          return {};
        case kGraphNode:
          return ForEach(content, [&](const Field& part, std::string_view inside) -> Status {
            OCTAVO_CHECK(Count());
            if (part.number == kNodeOutput) define(inside);
            return {};
          });
        default:
          return {};
      }
    });
  }

  Status Graph(std::string_view bytes, int depth) {
    if (depth > limits_.depth) {
      return Fail(Code::kInvalidArgument, "not a valid ONNX model: subgraphs nested deeper than {}",
                  limits_.depth)
          .Reason("MALFORMED");
    }
    OCTAVO_CHECK(Define(bytes, scopes_.emplace_back()));
    OCTAVO_CHECK(ForEach(bytes, [&](const Field& field, std::string_view content) -> Status {
      if (field.number == kGraphNode) return Node(content, depth);
      if (field.number != kGraphOutput) return {};
      OCTAVO_TRY(const std::string_view name, NameOf(content));
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
  OCTAVO_CHECK(ForEach(model.text(), [&](const Field& field, std::string_view content) -> Status {
    if (field.number == kModelFunctions) add(content, raw.functions);
    if (field.number != kModelGraph) return {};
    return ForEach(content, [&](const Field& part, std::string_view inside) -> Status {
      if (part.number == kGraphNode) add(inside, raw.nodes);
      if (part.number == kGraphInitializer) add(inside, raw.initializers);
      if (part.number == kGraphInput) add(inside, raw.inputs);
      if (part.number == kGraphOutput) add(inside, raw.outputs);
      if (part.number == kGraphValueInfo) add(inside, raw.value_infos);
      return {};
    });
  }));
  return raw;
}

Result<Subgraphs> ReadSubgraphs(const Blob& node, const SubgraphLimits& limits) {
  return SubgraphReader(limits).Run(node.text());
}

}  // namespace octavo::onnx
