// SPDX-License-Identifier: Apache-2.0
// What the names of --keep-float mean in a model.  They are looked up in the model as imported,
// because later passes fold or fuse nodes; what became of each is a warning where it is not simply
// a float node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::job {

// A name of --keep-float with the nodes of the model that it names.
struct FloatName {
  struct Node {
    std::string name = {}, op = {};
    bool real = false;  // consumes or computes real numbers
  };
  std::string name = {};
  bool is_op = false;     // it names nodes by their operator
  bool is_value = false;  // it is the name of a value, perhaps without a node (an input)
  bool in_model = false;  // the model has an operator of that name; import may convert it
  std::vector<Node> nodes = {};
};

// `ops`: the operators of the model, before import converts them.
std::vector<FloatName> FindFloatNames(const std::vector<std::string>& names,
                                      const ir::Graph& imported,
                                      const std::map<std::string, int64_t>& ops);

// The option's names, and those nodes that the names mean: a value that a fused node no longer
// computes, or a node that is another op by now but computes the same.  `graph` is prepared.
std::vector<std::string> NodesToKeepFloat(const std::vector<FloatName>& names,
                                          const ir::Graph& graph);

// A warning for each name that does not end as it is among the float nodes of the final graph:
// keep_float_fused, keep_float_no_effect or unknown_name.
void WarnOfFloatNames(const std::vector<FloatName>& names, const ir::Graph& graph,
                      std::vector<passes::Warning>& warnings);

}  // namespace octavo::job
