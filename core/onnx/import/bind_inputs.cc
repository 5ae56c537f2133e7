// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/import/bind_inputs.h"

#include "core/base/nearest_name.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

std::string Describe(const std::vector<Extent>& extents) {
  std::vector<std::string> parts;
  for (const Extent& extent : extents) {
    parts.push_back(extent.value            ? fmt::format("{}", *extent.value)
                    : extent.symbol.empty() ? "?"
                                            : extent.symbol);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

class Binder {
 public:
  explicit Binder(const ImportOptions& options) : options_(options) {}

  Result<BoundInputs> Run(const std::vector<const onnx_wire::ValueInfo*>& infos) {
    for (const onnx_wire::ValueInfo* info : infos) OCTAVO_CHECK(Declare(*info));
    OCTAVO_CHECK(CheckOptionNames());
    for (const InputSignature& input : bound_.signatures) OCTAVO_CHECK(FromShapeOption(input));
    BindBatch();
    for (const InputSignature& input : bound_.signatures) FromSamples(input);
    for (const InputSignature& input : bound_.signatures) OCTAVO_CHECK(Finish(input));
    if (!bound_.shapes.empty() && !bound_.shapes[0].empty()) bound_.batch = bound_.shapes[0][0];
    return std::move(bound_);
  }

 private:
  Status Declare(const onnx_wire::ValueInfo& info) {
    OCTAVO_TRY(auto declared, DeclaredShape(info));
    const int elements = info.type().tensor_type().elem_type();
    const auto dtype = DTypeOfWire(elements);
    if (!dtype) {
      return Fail(Code::kUnimplemented, "input '{}': elements of type {} are not supported",
                  info.name(), WireName(elements))
          .Field(info.name());
    }
    InputSignature input{.name = info.name(), .dtype = *dtype};
    if (declared) {
      input.declared = std::move(*declared);
    } else if (const auto at = options_.shapes.find(info.name()); at != options_.shapes.end()) {
      input.declared.resize(at->second.size());
    } else {
      return Fail(Code::kUsage, "input '{}' has no shape in the model; pass --shape {}=...",
                  info.name(), info.name())
          .Field(info.name());
    }
    input.dynamic_batch = !input.declared.empty() && !input.declared[0].value;
    bound_.signatures.push_back(std::move(input));
    return {};
  }

  Status CheckOptionNames() const {
    for (const auto& [name, shape] : options_.shapes) {
      bool found = false;
      for (const InputSignature& input : bound_.signatures) found |= input.name == name;
      if (!found) {
        std::vector<std::string> names;
        for (const InputSignature& input : bound_.signatures) names.push_back(input.name);
        return Fail(Code::kUsage, "--shape {}: the model has no input of that name{}", name,
                    DidYouMean(name, names))
            .Field("shape");
      }
      for (const int64_t extent : shape) {
        if (extent <= 0) return Fail(Code::kUsage, "--shape {}: extent {}", name, extent);
      }
    }
    return {};
  }

  Status FromShapeOption(const InputSignature& input) {
    const auto at = options_.shapes.find(input.name);
    if (at == options_.shapes.end()) return {};
    const ir::Shape& shape = at->second;
    bool fits = shape.size() == input.declared.size();
    for (size_t i = 0; fits && i < shape.size(); ++i) {
      fits = input.declared[i].value.value_or(shape[i]) == shape[i];
    }
    if (!fits) {
      return Fail(Code::kUsage, "--shape {}={}: the model declares {}", input.name,
                  fmt::join(shape, ","), Describe(input.declared))
          .Field("shape");
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      const std::string& symbol = input.declared[i].symbol;
      if (symbol.empty() || input.declared[i].value) continue;
      const auto known = symbols_.emplace(symbol, shape[i]);
      if (known.first->second != shape[i]) {
        return Fail(Code::kUsage, "--shape {}: '{}' is {} here and {} elsewhere", input.name,
                    symbol, shape[i], known.first->second)
            .Field("shape");
      }
    }
    return {};
  }

  // A dynamic axis 0 is the batch, and so is every other axis with the same symbol.
  void BindBatch() {
    for (const InputSignature& input : bound_.signatures) {
      if (!input.dynamic_batch) continue;
      if (bound_.batch_symbol.empty()) bound_.batch_symbol = input.declared[0].symbol;
      if (!input.declared[0].symbol.empty()) symbols_.emplace(input.declared[0].symbol, Batch());
    }
  }

  void FromSamples(const InputSignature& input) {
    const auto samples = SampleShape(input);
    if (!samples) return;
    for (size_t i = 1; i < input.declared.size(); ++i) {
      const Extent& extent = input.declared[i];
      if (!extent.value && !extent.symbol.empty()) symbols_.emplace(extent.symbol, (*samples)[i]);
    }
  }

  // The shape of the input's samples if it has the input's rank; one axis less is a single sample.
  std::optional<ir::Shape> SampleShape(const InputSignature& input) const {
    const auto at = options_.sample_shapes.find(input.name);
    if (at == options_.sample_shapes.end()) return std::nullopt;
    ir::Shape shape = at->second;
    if (shape.size() + 1 == input.declared.size()) shape.insert(shape.begin(), 1);
    if (shape.size() != input.declared.size()) return std::nullopt;
    return shape;
  }

  Status Finish(const InputSignature& input) {
    const auto option = options_.shapes.find(input.name);
    const auto samples = SampleShape(input);
    ir::Shape shape;
    for (size_t i = 0; i < input.declared.size(); ++i) {
      const Extent& extent = input.declared[i];
      const auto symbol = symbols_.find(extent.symbol);
      if (extent.value) {
        shape.push_back(*extent.value);
      } else if (extent.zero && samples && (*samples)[i] == 0) {
        shape.push_back(0);
      } else if (option != options_.shapes.end()) {
        shape.push_back(option->second[i]);
      } else if (!extent.symbol.empty() && symbol != symbols_.end()) {
        shape.push_back(symbol->second);
      } else if (i == 0) {
        shape.push_back(Batch());
      } else if (samples) {
        shape.push_back((*samples)[i]);
      } else if (options_.open_extent > 0) {
        shape.push_back(options_.open_extent);
      } else {
        return Fail(Code::kUsage,
                    "input '{}' is declared {}: axis {} is dynamic; pass --shape {}=... or --data",
                    input.name, Describe(input.declared), i, input.name)
            .Field(input.name);
      }
    }
    bound_.shapes.push_back(std::move(shape));
    return {};
  }

  int64_t Batch() const { return std::max<int64_t>(options_.batch, 1); }

  const ImportOptions& options_;
  BoundInputs bound_;
  std::map<std::string, int64_t> symbols_;
};

}  // namespace

Result<std::optional<std::vector<Extent>>> DeclaredShape(const onnx_wire::ValueInfo& info) {
  const onnx_wire::Type& type = info.type();
  if (type.has_sequence_type() || type.has_map_type() || type.has_sparse_tensor_type() ||
      type.has_optional_type()) {
    return Fail(Code::kUnimplemented,
                "'{}' is a sequence, map, optional or sparse tensor; only tensors are supported",
                info.name())
        .Field(info.name());
  }
  if (!type.tensor_type().has_shape()) return std::optional<std::vector<Extent>>();
  std::vector<Extent> extents;
  for (const onnx_wire::Dimension& dimension : type.tensor_type().shape().dim()) {
    Extent extent{.symbol = dimension.dim_param()};
    if (dimension.has_dim_value() && dimension.dim_value() < 0) {
      // Some exporters write -1 for a dynamic extent.
      if (dimension.dim_value() != -1) {
        return Fail(Code::kInvalidArgument, "'{}': extent {} is negative", info.name(),
                    dimension.dim_value())
            .Field(info.name());
      }
    } else if (dimension.has_dim_value() && dimension.dim_param().empty()) {
      // Some models use 0 for "unknown"; an actual extent of 0 makes an input without elements.
      extent.zero = dimension.dim_value() == 0;
      if (!extent.zero) extent.value = dimension.dim_value();
    }
    extents.push_back(std::move(extent));
  }
  return std::optional(std::move(extents));
}

std::vector<ir::ValueId> InputsBehind(const ir::Graph& graph, ir::ValueId value) {
  std::vector<ir::ValueId> inputs, open = {value};
  std::vector<bool> seen(graph.value_bound(), false);
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    open.pop_back();
    if (!next || seen[static_cast<size_t>(next.index)] || graph.IsConstant(next)) continue;
    seen[static_cast<size_t>(next.index)] = true;
    const ir::NodeId producer = graph.value(next).producer;
    if (!producer) {
      inputs.push_back(next);
    } else if (const ir::Node& node = graph.node(producer); !node.op->shape_only) {
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
  }
  return inputs;
}

Result<BoundInputs> BindInputs(const std::vector<const onnx_wire::ValueInfo*>& infos,
                               const ImportOptions& options) {
  return Binder(options).Run(infos);
}

}  // namespace octavo::onnx
