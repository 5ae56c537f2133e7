// SPDX-License-Identifier: Apache-2.0
// Binds every dimension of every graph input to a number.
#pragma once

#include "core/onnx/import/import.h"
#include "core/onnx/wire/onnx.pb.h"

namespace octavo::onnx {

// The extents that a value's type declares; nullopt if it has no shape.  kInvalidArgument for a
// negative extent, kUnimplemented for a type other than a tensor.
Result<std::optional<std::vector<Extent>>> DeclaredShape(const onnx_wire::ValueInfo& info);

struct BoundInputs {
  std::vector<InputSignature> signatures = {};
  std::vector<ir::Shape> shapes = {};
  int64_t batch = 1;
  std::string batch_symbol = {};
};

// `infos` are the inputs without an initializer.
Result<BoundInputs> BindInputs(const std::vector<const onnx_wire::ValueInfo*>& infos,
                               const ImportOptions& options);

// The graph inputs that a value's computation depends on.
std::vector<ir::ValueId> InputsBehind(const ir::Graph& graph, ir::ValueId value);

}  // namespace octavo::onnx
