// SPDX-License-Identifier: Apache-2.0
// Reads an ONNX model (opset 1 to 24, IR version 3 to 12) as a graph: every operator in its newest
// version, every dimension bound.  QuantizeLinear and DequantizeLinear become Quantize and
// Dequantize; the pass fold-qdq folds the ops between them into ops on quantized operands, and
// finds what it needs to know about the model in the graph's metadata (core/ir/qdq_notes.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/graph.h"
#include "core/onnx/wire/external_data.h"

namespace octavo::onnx {

using OpFinder = std::function<const ir::OpDef*(std::string_view name, std::string_view domain)>;

struct ImportOptions {
  // Shapes of inputs by name (--shape); they bind dynamic extents and must agree with the others.
  std::map<std::string, ir::Shape> shapes = {};
  // The size of a dynamic batch dimension; 0: 1.
  int64_t batch = 0;
  // Shapes of the samples by input name: they bind dynamic extents behind axis 0.
  std::map<std::string, ir::Shape> sample_shapes = {};
  ExternalData external = {};
  // The elements of an input that all samples share; none without samples.  If this is set, an
  // input whose elements determine a shape or a scale becomes a constant with them.
  std::function<Result<std::optional<ir::Tensor>>(const std::string& name, const ir::Type& type)>
      value_of = {};
  // Maximum nodes of a model; 0: no limit.  kTooLarge before anything is built.
  int64_t max_nodes = 0;
  // Finds the operators of a target, for those that Octavo itself does not have.
  OpFinder find_op = {};
};

struct Extent {
  std::optional<int64_t> value = {};  // none: dynamic
  std::string symbol = {};            // its name, if it has one
  bool zero = false;                  // written as 0: dynamic, or truly without elements
};

// An input as the model declares it; the graph's input of the same place has it bound.
struct InputSignature {
  std::string name = {};
  ir::DType dtype = {};
  std::vector<Extent> declared = {};
  bool dynamic_batch = false;  // axis 0 is dynamic: samples may come in any number
};

struct OutputSignature {
  std::string name = {};
  std::optional<std::vector<Extent>> declared = {};  // none: the model gives no shape
  // Axis 0 has the batch's extent: results of several batches are joined along it, others are
  // stacked in a new leading axis.
  bool batched = false;
};

struct ImportWarning {
  std::string code = {}, message = {}, node = {};
};

struct Imported {
  ir::Graph graph = {};
  std::vector<std::string> fixed_inputs = {};  // those that became constants by `value_of`
  int64_t bytes = 0;                           // of the model and its external data
  int64_t opset = 0;
  int64_t ir_version = 0;
  std::string producer = {};
  std::vector<InputSignature> inputs = {};
  std::vector<OutputSignature> outputs = {};
  int64_t batch = 1;  // extent of axis 0 of the inputs: how many samples one run takes
  int64_t nodes = 0;  // as the model has them
  std::map<std::string, int64_t> ops = {};
  std::vector<ImportWarning> warnings = {};
};

// kTooLarge naming both figures where there are more than `most` (0: any number are allowed).
Status CheckNodeCount(int64_t nodes, int64_t most);

// kInvalidArgument: the model is wrong; kUnimplemented names the node and operator that is not
// supported; kUsage says which --shape to pass.
Result<Imported> ImportModel(const Blob& model, const ImportOptions& options = {});

}  // namespace octavo::onnx
