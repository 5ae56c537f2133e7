// Runs one quantized graph in two numerics modes on the same samples and counts the steps by which
// every value differs: where two targets will disagree, and where that begins.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/graph.h"

namespace octavo::report {

// Codes that differ between two modes.
struct StepCounts {
  int64_t elements = 0;
  int64_t different = 0;
  int64_t max_steps = 0;
  std::array<int64_t, 17> histogram = {};  // [k]: exactly k steps apart, [16]: more than 15

  void Add(const ir::Tensor& a, const ir::Tensor& b);
};

struct ModeDifference {
  std::string value = {}, node = {}, op = {};
  ir::DType dtype = ir::DType::kI8;
  StepCounts accumulated = {};  // each mode on its own results
  StepCounts local = {};        // both on the first mode's operands: this node's own part
};

struct ModeComparison {
  std::string numerics = {}, against = {};
  std::vector<ModeDifference> values = {};  // those with codes, in the order of computation
};

// kUnimplemented names a node that one of the modes does not define.
Result<ModeComparison> CompareModes(const ir::Graph& graph,
                                    const std::vector<std::vector<ir::Tensor>>& batches,
                                    const std::string& numerics, const std::string& against,
                                    ThreadPool& pool, const StopToken& stop);

}  // namespace octavo::report
