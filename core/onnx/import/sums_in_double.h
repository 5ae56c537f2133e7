// SPDX-License-Identifier: Apache-2.0
// Recognizes sums that an export computes in double for a runtime with quirks
// (core/onnx/export/quirks.h), between two Casts; in the graph they are sums in float.
#pragma once

#include <string>
#include <unordered_map>

#include "core/onnx/wire/onnx.pb.h"

namespace octavo::onnx {

class SumsInDouble {
 public:
  // Finds none in a model that Octavo did not write.  Linear in the graph.
  SumsInDouble(const onnx_wire::Graph& graph, bool own);

  // What a node of the model is: not part of such a sum, the Cast of its operand, the sum itself,
  // or the Cast of its result.
  enum class Part { kNone, kOperand, kSum, kResult };
  Part PartOf(int node) const {
    const auto found = parts_.find(node);
    return found == parts_.end() ? Part::kNone : found->second;
  }
  // The value that the Cast of the result gives, of a node that is kSum.
  const std::string& ResultOf(int sum) const { return results_.at(sum); }

 private:
  std::unordered_map<int, Part> parts_;
  std::unordered_map<int, std::string> results_;
};

}  // namespace octavo::onnx
