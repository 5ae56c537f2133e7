// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/export/export.h"

#include <algorithm>

#include "core/base/version.h"
#include "core/onnx/export/graph_writer.h"
#include "core/onnx/export/quirks.h"
#include "core/onnx/versions/version_table.h"

namespace octavo::onnx {
namespace {

// The opset if the graph declares none: the first with per-channel quantization.
constexpr int64_t kDefaultOpset = 13;

int64_t OpsetOf(const ir::Graph& graph) {
  const auto at = graph.opsets.find("");
  return at == graph.opsets.end() ? kDefaultOpset : at->second;
}

// Initializers that are no graph inputs.
constexpr int64_t kLeastIrVersion = 4;

// The contract's, unless it or the opset is too low.
int64_t IrVersion(const ir::Graph& graph, const ExportOptions& options, int64_t opset) {
  const bool known = options.contract != nullptr && options.contract->ir_version > 0;
  int64_t version = std::max(kLeastIrVersion, known ? options.contract->ir_version : 0);
  if (!known || opset > OpsetOf(graph)) version = std::max(version, IrVersionOf(opset));
  return version;
}

void WriteHead(const ir::Graph& graph, const ExportOptions& options, int64_t opset,
               ModelWriter& writer) {
  onnx_wire::Model& model = writer.model();
  model.set_ir_version(IrVersion(graph, options, opset));
  model.set_producer_name(std::string(kProducer));
  model.set_producer_version(std::string(Version()));
  onnx_wire::OperatorSet& own = *model.add_opset_import();
  own.set_domain("");
  own.set_version(opset);
  std::map<std::string, int64_t> others = graph.opsets;
  for (const ir::NodeId id : graph.nodes()) {
    const std::string_view domain = graph.node(id).op->domain;
    if (!domain.empty() && domain != "octavo") others.emplace(domain, 1);
  }
  for (const auto& [domain, version] : others) {
    if (domain.empty()) continue;
    onnx_wire::OperatorSet& other = *model.add_opset_import();
    other.set_domain(domain);
    other.set_version(version);
  }
  std::map<std::string, std::string> metadata = options.metadata;
  metadata.insert(graph.metadata.begin(), graph.metadata.end());
  for (const auto& [key, value] : metadata) {
    onnx_wire::StringEntry& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  writer.graph().set_name(graph.graph_name.empty() ? std::string(kNoName) : graph.graph_name);
  for (const ir::ValueId input : graph.inputs()) {
    WriteValueInfo(graph.name(input), graph.type(input), *writer.graph().add_input());
    writer.Typed(graph.name(input), graph.type(input));
  }
  for (const ir::ValueId output : graph.outputs()) {
    WriteValueInfo(graph.name(output), graph.type(output), *writer.graph().add_output());
    writer.Typed(graph.name(output), graph.type(output));
  }
}

// Writes the graph at its other sizes and adds their types to the writer's.
Status AddSizes(const ExportOptions& options, int64_t opset, ModelWriter& writer) {
  if (options.open == nullptr) return {};
  for (const ir::Graph& sized : options.open->graphs) {
    ModelWriter other;
    WriteHead(sized, options, opset, other);
    OCTAVO_TRY(const std::optional<NeedsOpset> needs,
               GraphWriter(sized, options, opset, other).Run());
    const std::optional<std::string> node = needs ? needs->node : writer.AddSize(std::move(other));
    if (!node) continue;
    return Fail(Code::kUnimplemented, "'{}' is written in another way at another size", *node)
        .Node(*node)
        .Reason(kDependsOnSize);
  }
  return {};
}

}  // namespace

Result<Exported> ExportModel(const ir::Graph& graph, const ExportOptions& options) {
  int64_t opset = options.opset ? options.opset : std::max(OpsetOf(graph), kOldestWritten);
  if (opset < kOldestWritten || opset > kNewestOpset) {
    return Fail(Code::kUsage, "opset {} is outside of {} to {}", opset, kOldestWritten,
                kNewestOpset)
        .Field("opset");
  }
  std::optional<NeedsOpset> raised_for;
  if (options.opset == 0 && OpsetOf(graph) < kOldestWritten && graph.first()) {
    const ir::Node& first = graph.node(graph.first());
    raised_for = NeedsOpset{kOldestWritten, first.name, std::string(first.op->name)};
  }
  // Terminates: each iteration raises the opset.
  while (true) {
    ModelWriter writer;
    WriteHead(graph, options, opset, writer);
    OCTAVO_TRY(const std::optional<NeedsOpset> needs,
               GraphWriter(graph, options, opset, writer).Run());
    if (!needs) {
      OCTAVO_CHECK(AddSizes(options, opset, writer));
      OCTAVO_TRY(Exported exported, writer.Finish(options));
      exported.opset = opset;
      exported.ir_version = writer.model().ir_version();
      exported.raised_for = std::move(raised_for);
      return exported;
    }
    if (options.opset || needs->opset > kNewestOpset) {
      return Fail(Code::kUnimplemented, "{} '{}' cannot be written at opset {}; it needs {}",
                  needs->op, needs->node, opset, needs->opset)
          .Node(needs->node)
          .Field("opset");
    }
    opset = needs->opset;
    raised_for = needs;
  }
}

std::vector<MetQuirk> FindQuirks(const ir::Graph& graph, std::span<const target::Quirk> quirks,
                                 int64_t opset) {
  const QuirkFinder finder(graph, quirks, opset);
  std::vector<MetQuirk> met;
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const target::Quirk* quirk : finder.At(id)) {
      met.push_back({.quirk = quirk, .node = node.name, .op = std::string(node.op->name)});
    }
  }
  return met;
}

}  // namespace octavo::onnx
