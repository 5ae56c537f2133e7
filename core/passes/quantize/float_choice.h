// SPDX-License-Identifier: Apache-2.0
// Which nodes must stay float: the job names them (--keep-float), the target keeps their op in
// float (`float_ops`), or the model lists them, because an earlier job was asked to
// (ir::kFloatOnRequestKey).  `quantize` and every pass that moves a Quantize or a Dequantize past
// a node asks here, so that data movement obeys the choice as well.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

class FloatChoice {
 public:
  // `settings` must outlive the choice.  kInvalidArgument if the graph's metadata entry is not a
  // list of names.
  static Result<FloatChoice> Of(const ir::Graph& graph, const Settings& settings);

  // The reason as a sentence; empty if nothing demands it.  Quantize, Dequantize and Rescale are
  // never chosen: they are the border between the two arithmetics.
  std::string WhyFloat(const ir::Graph& graph, const ir::Node& node) const;
  bool StaysFloat(const ir::Graph& graph, const ir::Node& node) const {
    return !WhyFloat(graph, node).empty();
  }
  // The same without the target's choice.
  bool IsRequested(const ir::Graph& graph, const ir::Node& node) const;

  // Lists the chosen nodes that compute in float in the graph's metadata, by their own names, so
  // that later passes and jobs find them; also records why they stay float.  Names of the option
  // may be of values that fusion removes.
  void Note(ir::Graph& graph, Context& context) const;

 private:
  explicit FloatChoice(const Settings& settings) : settings_(&settings) {}
  bool IsNamed(const ir::Graph& graph, const ir::Node& node) const;
  bool IsListed(const ir::Node& node) const;

  const Settings* settings_;
  std::set<std::string, std::less<>> names_ = {};  // of the option
  std::vector<std::string> patterns_ = {};         // those of them that are patterns
  std::set<std::string> listed_ = {};              // by the metadata
};

// The names of the graph's nodes that must stay float.
std::set<std::string> NamesOfChosen(const ir::Graph& graph, const FloatChoice& choice);

}  // namespace octavo::passes
