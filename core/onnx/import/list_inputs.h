// SPDX-License-Identifier: Apache-2.0
// Lists the inputs of a model without importing it.
#pragma once

#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/base/status.h"

namespace octavo::onnx {

// The names of the graph's inputs in order, without those that have an initializer.
Result<std::vector<std::string>> ListInputs(const Blob& model);

}  // namespace octavo::onnx
