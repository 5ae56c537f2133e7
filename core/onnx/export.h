// From a graph to an ONNX model: quantized values as QuantizeLinear and DequantizeLinear around
// float operators, or as QLinear operators.  Equal graphs give equal bytes.
#pragma once

#include <string>

#include "core/base/blob.h"
#include "core/ir/graph.h"

namespace octavo::onnx {

enum class Form {
  kQdq,     // float operators between DequantizeLinear and QuantizeLinear
  kQLinear  // QLinearConv and QLinearMatMul where they can be, the rest as kQdq
};

struct ExportOptions {
  Form form = Form::kQdq;
  // 0: the graph's own, raised to the least that can say everything.  Another one is kept exactly;
  // kUnimplemented names the node that needs a higher one.
  int64_t opset = 0;
  // Weights go to a file of this name beside the model where all of them together pass the limit
  // (a message of 2 GiB is the most that readers take).
  std::string external_name = "model.onnx.data";
  int64_t external_limit = 1'800'000'000;
};

struct Exported {
  std::string model = {};
  std::string external = {};  // what the file of external_name holds; empty: there is none
  int64_t opset = 0;
  int64_t nodes = 0;
};

Result<Exported> ExportModel(const ir::Graph& graph, const ExportOptions& options = {});

}  // namespace octavo::onnx
