// SPDX-License-Identifier: Apache-2.0
// Imports an ONNX model (opset 1 to 24, IR version 3 to 12) as a graph: every operator in its
// newest version, every dimension bound.  QuantizeLinear and DequantizeLinear become Quantize and
// Dequantize.  The pass fold-qdq later folds the ops between them into ops on quantized operands;
// it reads the notes about the model that import leaves in the graph's metadata
// (core/ir/qdq_notes.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/graph.h"
#include "core/ir/warning.h"
#include "core/onnx/wire/contract.h"
#include "core/onnx/wire/external_data.h"

namespace octavo::onnx {

using OpFinder = std::function<const ir::OpDef*(std::string_view name, std::string_view domain)>;

struct ImportOptions {
  // Shapes of inputs by name (--shape); they bind dynamic extents and must agree with the declared
  // ones.
  std::map<std::string, ir::Shape> shapes = {};
  // The extent of a dynamic batch; 0 means 1.
  int64_t batch = 0;
  // Shapes of the samples by input name: they bind dynamic extents of axes after axis 0.
  std::map<std::string, ir::Shape> sample_shapes = {};
  ExternalData external = {};
  // Returns the elements of an input if all samples agree in them, and nullopt if there are no
  // samples to compare.  If this is set, import replaces an input by these elements as a constant
  // if the elements determine a shape or a scale.
  std::function<Result<std::optional<ir::Tensor>>(const std::string& name, const ir::Type& type)>
      value_of = {};
  // The maximum number of nodes; 0: unlimited.  kTooLarge before anything is built.
  int64_t max_nodes = 0;
  // Looks up operators of a target that Octavo itself does not know.
  OpFinder find_op = {};
  // Leave nodes that a graph cannot hold, and what follows them, as the opaque part of the contract
  // (core/onnx/wire/opaque_part.h), instead of kUnimplemented.
  bool opaque = false;
  // The type of the array that has the values of a node's result, if there is one: of such a value,
  // a graph input takes the place.  The leading axis of the array counts samples.
  std::function<std::optional<ir::Type>(const std::string& name)> array_of = {};
  // Names that no new value takes.
  std::vector<std::string> taken_names = {};
  // Binds open dimensions that nothing else binds, for a look at a model; 0: they are an error.
  int64_t open_extent = 0;
};

struct Extent {
  std::optional<int64_t> value = {};  // nullopt: dynamic
  std::string symbol = {};            // its name, if it has one
  bool zero = false;                  // declared as 0: dynamic, or actually without elements
};

// An input as the model declares it; the graph's input at the same index has the bound shape.
struct InputSignature {
  std::string name = {};
  ir::DType dtype = {};
  std::vector<Extent> declared = {};
  bool dynamic_batch = false;  // axis 0 is dynamic: the number of samples may vary
};

struct OutputSignature {
  std::string name = {};
  std::optional<std::vector<Extent>> declared = {};  // nullopt: the model declares no shape
  // Axis 0 has the batch's extent: results of several batches are concatenated along it; other
  // results are stacked along a new leading axis.
  bool batched = false;
  bool handed = false;  // no output of the model: nodes of the opaque part read it
};

struct Imported {
  ir::Graph graph = {};
  std::vector<std::string> fixed_inputs = {};  // the inputs that `value_of` made constant
  int64_t bytes = 0;                           // of the model and its external data
  int64_t opset = 0;
  int64_t ir_version = 0;
  std::string producer = {};
  Contract contract = {};
  std::vector<InputSignature> inputs = {};
  std::vector<OutputSignature> outputs = {};
  int64_t batch = 1;  // extent of axis 0 of the inputs: samples per run
  int64_t nodes = 0;  // in the model
  std::map<std::string, int64_t> ops = {};
  std::vector<ir::Warning> warnings = {};
};

// kTooLarge, with both numbers, if `nodes` exceeds `most` (0: unlimited).
Status CheckNodeCount(int64_t nodes, int64_t most);

// kInvalidArgument: the model is wrong; kUnimplemented names the unsupported node and operator;
// kUsage states which --shape to pass.
Result<Imported> ImportModel(const Blob& model, const ImportOptions& options = {});

}  // namespace octavo::onnx
