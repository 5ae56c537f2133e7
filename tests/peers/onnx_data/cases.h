// SPDX-License-Identifier: Apache-2.0
// The cases of ONNX's test data: a folder with a model, and samples with their expected results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace octavo::onnx_data {

struct Case {
  std::string name = {};    // "node/test_abs"
  std::string folder = {};  // contains model.onnx and test_data_set_K
  std::string label = {};   // the operator under test, or the group for larger graphs
};

// Lists all cases below `root` that have a model, sorted by name.
Result<std::vector<Case>> ListCases(const std::string& root);

// Reads the cases that are known to be unsupported, with the reason.  In the file, a line that
// begins with '#' states a reason and the cases below it follow.
Result<std::map<std::string, std::string>> ReadUnsupported(const std::string& path);

}  // namespace octavo::onnx_data
