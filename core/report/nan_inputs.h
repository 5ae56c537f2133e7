// SPDX-License-Identifier: Apache-2.0
// Counts the NaN elements that each Quantize of a graph reads, over all samples.  A Quantize stores
// NaN as the zero point, so that no figure of its result shows that there was one.
#pragma once

#include <map>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::report {

struct NanInput {
  std::string node = {};   // the Quantize
  std::string value = {};  // its operand
  int64_t count = 0;
};

class NanCounter {
 public:
  // `graph` must outlive the counter.
  explicit NanCounter(const ir::Graph& graph);

  // Whether a Quantize reads a view, whose elements a plan shows only if it keeps all values.
  bool ReadsView() const { return reads_view_; }
  // Counts if a Quantize reads the value.
  bool Reads(ir::ValueId value) const { return counts_.contains(value); }
  void Count(ir::ValueId value, const ir::Tensor& tensor);

  // Of each Quantize that read some, in the order of the graph.
  std::vector<NanInput> Found() const;

 private:
  const ir::Graph& graph_;
  std::map<ir::ValueId, int64_t> counts_;  // by operand of a Quantize
  bool reads_view_ = false;
};

// "Quantize 'q' read 3 NaN elements of 'x' as its zero point".
std::string Describe(const NanInput& input);

}  // namespace octavo::report
