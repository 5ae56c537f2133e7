// SPDX-License-Identifier: Apache-2.0
// Where the error of the outputs comes from: the same-scale groups of a quantized graph, and the
// share of each group and each layer's weights in the error (octavo.v1.ErrorShares).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/report/diff.h"

namespace octavo::ir {
class Graph;
}

namespace octavo::job {

struct JobContext;
struct Quantized;

struct GroupShare {
  std::vector<std::string> names =
      {};                 // of its values in the float graph; the first in order first
  std::string node = {};  // that computes the first; empty for a graph input
  int64_t elements = 0;   // of all its values
  bool has_8_bits = false;
  double share = 0;
};

struct ErrorShares {
  v1::ErrorShares totals = {};
  std::vector<GroupShare> groups = {};         // by falling share
  std::map<std::string, double> weights = {};  // by the node of the layer
  int64_t elements = 0;                        // of all quantized values
};

// Sets `group` of all values.
void SetGroups(const JobContext& job, const Quantized& quantized, report::DiffResult& figures);

// Measures the shares, and sets `error_share` of the values, whose groups are set.  Computes what
// follows a group or a layer again for each of them, on two batches.  Empty if nothing that is
// quantized causes an error.
Result<std::optional<ErrorShares>> MeasureErrorShares(const JobContext& job,
                                                      const Quantized& quantized,
                                                      report::DiffResult& figures);

}  // namespace octavo::job
