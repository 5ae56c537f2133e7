// SPDX-License-Identifier: Apache-2.0
// Parses a model's bytes into messages; the weights are not copied but referenced as views.
#pragma once

#include <vector>

#include "core/onnx/wire/onnx.pb.h"
#include "core/onnx/wire/wire_scanner.h"

namespace octavo::onnx {

struct ModelProto {
  onnx_wire::Model model = {};
  std::vector<View> views = {};
};

// kInvalidArgument for bytes that are not a model or contain no graph.
Result<ModelProto> ParseModel(const Blob& bytes);

}  // namespace octavo::onnx
