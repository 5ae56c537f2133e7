// SPDX-License-Identifier: Apache-2.0
// Writes a graph as an ONNX model: quantized values as QuantizeLinear and DequantizeLinear around
// float operators (QDQ), or as QLinear operators.  Equal graphs give equal bytes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/graph.h"
#include "core/onnx/wire/contract.h"
#include "core/target/quirk.h"

namespace octavo::onnx {

enum class Format {
  kQdq,     // float operators between DequantizeLinear and QuantizeLinear
  kQLinear  // QLinearConv and QLinearMatMul where possible, the rest as kQdq
};

// The sizes that an exported model leaves open.
struct OpenSizes {
  struct Symbol {
    std::string name = {};              // "": the model gives it none
    std::vector<int64_t> extents = {};  // in the exported graph, then in each of `graphs`
  };
  std::vector<Symbol> symbols = {};
  // The same graph at other sizes.  An extent that differs between them is written as a symbol.
  std::vector<ir::Graph> graphs = {};
  // What the model calls the open dimensions of its inputs and outputs, "" for no name; nullopt for
  // a dimension that it declares as a number.
  std::map<std::string, std::vector<std::optional<std::string>>, std::less<>> declared = {};
};

// The reason of the error if a node would be written in another way at another size.
inline constexpr std::string_view kDependsOnSize = "DEPENDS_ON_SIZE";

struct ExportOptions {
  Format format = Format::kQdq;
  // 0: the graph's own opset, or the lowest higher one that can express every node.  The IR version
  // is the contract's, or the lowest higher one that such an opset needs; at least 4.  Any other
  // value is used exactly; kUnimplemented names a node that needs a higher opset.
  int64_t opset = 0;
  // If all weights together exceed the limit, they are written to a file of this name next to the
  // model (protobuf limits a message to 2 GiB).
  std::string external_name = "model.onnx.data";
  int64_t external_limit = 1'800'000'000;
  // Of the runtime that will read the model: each node that meets one is written with its remedy.
  std::span<const target::Quirk> quirks = {};
  // Names of float nodes that stay float when the model is read again (ir::kKeptFloatKey).
  std::vector<std::string> kept_float = {};
  // Of the model that the graph is from; null if it is from none.  Must outlive the call.
  const Contract* contract = nullptr;
  // Null: all sizes are those of the graph.  Must outlive the call.
  const OpenSizes* open = nullptr;
  // Entries of metadata_props that replace those of the graph.
  std::map<std::string, std::string> metadata = {};
};

// The opset is too low for a node: the lowest opset that may suffice, and that node.
struct NeedsOpset {
  int64_t opset = 0;
  std::string node = {};
  std::string op = {};
};

struct Exported {
  std::string model = {};
  std::string external = {};  // contents of the file external_name; empty: no such file
  int64_t opset = 0;
  int64_t ir_version = 0;
  int64_t nodes = 0;
  // Why the opset is above the graph's own; empty if it is not, or if the options give it.
  std::optional<NeedsOpset> raised_for = {};
};

Result<Exported> ExportModel(const ir::Graph& graph, const ExportOptions& options = {});

// A node that meets a quirk, as the graph is written at the opset.
struct MetQuirk {
  const target::Quirk* quirk = nullptr;  // one of `quirks`
  std::string node = {};
  std::string op = {};
};
std::vector<MetQuirk> FindQuirks(const ir::Graph& graph, std::span<const target::Quirk> quirks,
                                 int64_t opset);

}  // namespace octavo::onnx
