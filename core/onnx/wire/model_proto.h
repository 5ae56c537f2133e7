// SPDX-License-Identifier: Apache-2.0
// A model's bytes as messages: the weights stay where they are, as views.
#pragma once

#include <vector>

#include "core/onnx/wire/onnx.pb.h"
#include "core/onnx/wire/wire_scanner.h"

namespace octavo::onnx {

struct ModelProto {
  onnx_wire::Model model = {};
  std::vector<View> views = {};
};

// kInvalidArgument for bytes that are no model, or have no graph.
Result<ModelProto> ParseModel(const Blob& bytes);

}  // namespace octavo::onnx
