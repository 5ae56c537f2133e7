// SPDX-License-Identifier: Apache-2.0
// A model's graph at other sizes than the job's: prepared anew from the model, or the result's
// graph with its types inferred anew; and what stands against their being one graph.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/job/job.h"
#include "core/onnx/import/import.h"
#include "core/passes/pass.h"

namespace octavo::job {

// Shapes of all graph inputs.
using InputShapes = std::vector<ir::Shape>;

// Why a graph does not hold at another size.
struct Obstacle {
  std::string node = {};
  std::string why = {};
  bool refused = false;  // the model itself cannot have the size
};

// Imports the request's ONNX model with those shapes and runs the passes before quantization on it.
// An error of the model at that size is the result's; other errors end the job.
class SizedModel {
 public:
  // `inputs` are the model's as a job imports it.  All must outlive the object.
  SizedModel(const Request& request, const passes::Settings& settings,
             const std::vector<onnx::InputSignature>& inputs);

  Result<ir::Graph> At(const InputShapes& shapes) const;

 private:
  const Request& request_;
  const passes::Settings& settings_;
  const std::vector<onnx::InputSignature>& inputs_;
};

// Whether an error means that the job has to end, and not that the model refuses a size.
bool EndsJob(const Error& error);

// Compares graphs by the names of nodes and values.  Constants that differ are no obstacle: their
// names are added to `varying`.  Those that are equal share their data afterwards, so that several
// graphs take the memory of one.
std::optional<Obstacle> CompareNodes(const ir::Graph& graph, ir::Graph& other,
                                     std::set<std::string>& varying);

// Gives the inputs other shapes and infers all types anew.
std::optional<Obstacle> Retype(ir::Graph& graph, const InputShapes& shapes);

// Values of `names` that have other shapes in `graph` than in `model`; and outputs.
std::optional<Obstacle> CompareShapes(const ir::Graph& graph, const ir::Graph& model,
                                      const std::set<std::string>& names);

// The names of values that have the same shape in both graphs.
std::set<std::string> EqualShapes(const ir::Graph& graph, const ir::Graph& model);

}  // namespace octavo::job
