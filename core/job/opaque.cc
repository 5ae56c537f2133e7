// SPDX-License-Identifier: Apache-2.0
#include "core/job/opaque.h"

#include <algorithm>

#include "core/job/gates.h"
#include "core/onnx/wire/opaque_part.h"

namespace octavo::job {
namespace {

bool ComputesFloats(const ir::Graph& graph) {
  return std::ranges::any_of(graph.outputs(), [&](ir::ValueId output) {
    const ir::Type& type = graph.type(output);
    const bool real = type.quantized() || type.dtype == ir::DType::kF32;
    return real && graph.Producer(output) != nullptr;
  });
}

}  // namespace

Status CheckOpaque(const JobContext& job, const onnx::Contract& contract, const ir::Graph& graph) {
  if (!contract.opaque) return {};
  const onnx::OpaqueNode& first = contract.opaque->nodes.front();
  if (job.settings.target.fully_quantized) {
    return Fail(Code::kUnimplemented, "node '{}': {}, and target {} has no floats", first.name,
                first.reason, job.settings.target.name)
        .Node(first.name)
        .Reason("UNSUPPORTED_OPERATOR");
  }
  const EmitForm form = job.options().emit;
  if (form == EmitForm::kText || form == EmitForm::kNative) {
    return Fail(Code::kUnimplemented,
                "node '{}': {}; only an ONNX model can hold it, and --emit asks for another form",
                first.name, first.reason)
        .Node(first.name)
        .Field("emit")
        .Reason("UNSUPPORTED_OPERATOR");
  }
  if (job.certificate != nullptr && !contract.opaque->held.empty()) {
    return Fail(Code::kUnimplemented,
                "a certificate cannot cover a job with values from files: '{}' of node '{}' is one",
                contract.opaque->held.front(), first.name)
        .Field("certificate");
  }
  if (HasGate(job.options()) && !ComputesFloats(graph)) {
    return Fail(Code::kUsage,
                "{} has nothing to judge: every output follows '{}', whose results are not known; "
                "--values-from gives them",
                job.options().require_sqnr > 0 ? "--require-sqnr" : "--require-cosine", first.name)
        .Field(job.options().require_sqnr > 0 ? "require_sqnr" : "require_cosine");
  }
  return {};
}

void AddOpaqueNodes(const onnx::Contract& contract, std::vector<passes::FloatNode>& nodes) {
  if (!contract.opaque) return;
  for (const onnx::OpaqueNode& node : contract.opaque->nodes) {
    nodes.push_back({.node = node.name, .op = node.op, .reason = node.reason});
  }
}

void CountOpaqueNodes(const onnx::Contract& contract, ModelFigures& figures) {
  if (!contract.opaque) return;
  for (const onnx::OpaqueNode& node : contract.opaque->nodes) {
    ++figures.nodes;
    ++figures.ops[node.op];
  }
}

std::vector<std::string> NamesInGraph(const std::vector<std::string>& names,
                                      const onnx::Contract& contract) {
  std::vector<std::string> kept = names;
  if (!contract.opaque) return kept;
  std::erase_if(kept, [&](const std::string& name) {
    return std::ranges::find(contract.opaque->nodes, name, &onnx::OpaqueNode::name) !=
           contract.opaque->nodes.end();
  });
  return kept;
}

void WarnOfOpaque(const onnx::Imported& model, std::vector<ir::Warning>& warnings) {
  if (!model.contract.opaque) return;
  for (const ir::Warning& warning : model.warnings) {
    const std::string_view code = warning.code.name();
    if (code == "unsupported_op" || code == "not_calibrated") warnings.push_back(warning);
  }
}

}  // namespace octavo::job
