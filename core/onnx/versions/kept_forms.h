// SPDX-License-Identifier: Apache-2.0
// Whether a node that import does not read may stand in a model of another opset.
#pragma once

#include <cstdint>
#include <string_view>

namespace octavo::onnx {

// Whether every node of the operator of ONNX's domain that is valid in opset `from` is valid in
// `to` and computes the same.  False for operators that Octavo does not know, except for control
// flow, sequences and the like, whose newer versions only take more types.
bool KeepsForm(std::string_view op, int64_t from, int64_t to);

}  // namespace octavo::onnx
