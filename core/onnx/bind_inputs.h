// Gives every extent of every graph input a number.
#pragma once

#include "core/onnx/import.h"
#include "core/onnx/proto/onnx.pb.h"

namespace octavo::onnx {

// The extents that a value's type declares; none without a shape.  kInvalidArgument for a
// negative one, kUnimplemented for a type that is no tensor.
Result<std::optional<std::vector<Extent>>> DeclaredShape(const onnx_wire::ValueInfo& info);

struct BoundInputs {
  std::vector<InputSignature> signatures = {};
  std::vector<ir::Shape> shapes = {};
  int64_t batch = 1;
  std::string batch_symbol = {};
};

// `infos` are the inputs that no initializer stands behind.
Result<BoundInputs> BindInputs(const std::vector<const onnx_wire::ValueInfo*>& infos,
                               const ImportOptions& options);

// The graph's inputs whose elements a value is computed from.
std::vector<ir::ValueId> InputsBehind(const ir::Graph& graph, ir::ValueId value);

}  // namespace octavo::onnx
