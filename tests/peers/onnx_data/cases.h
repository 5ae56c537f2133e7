// SPDX-License-Identifier: Apache-2.0
// The cases of ONNX's test data: a folder with a model and samples with their right answers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace octavo::onnx_data {

struct Case {
  std::string name = {};    // "node/test_abs"
  std::string folder = {};  // where its model.onnx and test_data_set_K are
  std::string label = {};   // the operator that it is about, or the group for larger graphs
};

// All cases below `root` that have a model, sorted by name.
Result<std::vector<Case>> ListCases(const std::string& root);

// Cases that are known to be unsupported, with the reason.  The file has a reason in a line that
// begins with '#' and below it the cases that it holds for.
Result<std::map<std::string, std::string>> ReadUnsupported(const std::string& path);

}  // namespace octavo::onnx_data
