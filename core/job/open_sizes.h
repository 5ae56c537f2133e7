// SPDX-License-Identifier: Apache-2.0
// Which sizes of a model stay open in the export.  A job works on the model with every size bound;
// this finds out afterwards at which other sizes the result holds.  A symbol (a named dimension, or
// an unnamed one) stays open if, at several other sizes of it, the model prepared anew has the same
// nodes, and the result, with shapes that follow from the inputs, has the model's shapes.
//
// A pure function of the model, the options and the result's graph: a certificate does not hold it.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/warning.h"
#include "core/job/job.h"
#include "core/onnx/export/export.h"
#include "core/onnx/import/import.h"
#include "core/passes/pass.h"

namespace octavo::job {

// The inputs and outputs as the model declares them.
struct Interface {
  std::vector<onnx::InputSignature> inputs = {};
  std::vector<onnx::OutputSignature> outputs = {};
};

struct OpenModel {
  // The result for all sizes; empty if every size is fixed.
  std::optional<ir::Graph> graph = {};
  onnx::OpenSizes sizes = {};
  // fixed_dimension, for each dimension that the options do not fix.
  std::vector<ir::Warning> warnings = {};
};

// `graph`: the result, with the sizes of the job.  Settings without a pool use one thread.
Result<OpenModel> FindOpenSizes(const Request& request, const passes::Settings& settings,
                                const Interface& interface, const ir::Graph& graph);

// The same with every size fixed, because of `why` at `node`.
OpenModel FixSizes(const Request& request, const Interface& interface, const ir::Graph& graph,
                   std::string_view why, std::string_view node);

}  // namespace octavo::job
