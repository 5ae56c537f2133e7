// SPDX-License-Identifier: Apache-2.0
// Stage "export": the bytes of the result and the digest of everything they depend on.
#include "core/onnx/export/export.h"
#include "core/base/mapped_pages.h"
#include "core/base/sha256.h"
#include "core/job/action_digest.h"
#include "core/job/stages.h"
#include "core/native/native.h"
#include "core/options/option_table.h"
#include "core/passes/qdq/kept_float.h"
#include "core/target/quirk.h"
#include "core/text/print.h"

namespace octavo::job {
namespace {

// Moves a large result to a file: only the end of the job reads it, and later stages need the
// memory.
Blob OutOfMemory(std::string bytes) {
  if (bytes.size() < kWorthReleasing) return Blob(std::move(bytes));
  Blob copy = CopyToFile(std::as_bytes(std::span(bytes)));
  ReleasePages(copy.bytes());
  return copy;
}

void ExportText(const ir::Graph& graph, Exported& exported) {
  const text::PrintOptions print{
      .payload = [&](const std::string& digest, const ir::Tensor& tensor) {
        exported.external.push_back({digest, tensor.ToBlob()});
      }};
  exported.model = {"model.graph", Blob(text::Print(graph, print))};
}

Result<target::TargetQuirks> QuirksOf(const Request& request) {
  if (request.target) return target::ParseQuirks(request.target->bytes.text());
  return target::BuiltInQuirks(request.options.target);
}

// The export avoids the quirks of the target's own runtime; the default target names a runtime
// that its users may mean.
Status WarnOfQuirks(const ir::Graph& graph, const std::string& warn_for, int64_t opset,
                    Exported& exported) {
  if (warn_for.empty()) return {};
  OCTAVO_TRY(const target::TargetQuirks runtime, target::BuiltInQuirks(warn_for));
  for (const onnx::MetQuirk& met : onnx::FindQuirks(graph, runtime.avoided, opset)) {
    if (!met.quirk->warns) continue;
    const ir::WarningRow* row = ir::FindWarning(met.quirk->code);
    if (row == nullptr) {
      return Fail(Code::kInternal, "quirk '{}' of target {} has the unknown warning code '{}'",
                  met.quirk->id, warn_for, met.quirk->code);
    }
    exported.warnings.push_back(
        {.code = ir::WarningCode(*row),
         .message = fmt::format("{} '{}': {} {}; an export for target {} avoids it", met.op,
                                met.node, warn_for, met.quirk->does, warn_for),
         .node = met.node});
  }
  return {};
}

// A reader of the model may rely on its opset.
void WarnOfOpset(const ir::Graph& graph, const onnx::Exported& written, Exported& exported) {
  const auto own = graph.opsets.find("");
  const bool asked = exported.options.opset != 0;
  if (asked || own == graph.opsets.end() || own->second == written.opset) return;
  const std::string why = written.raised_for.empty()
                              ? "which is the oldest that is written"
                              : fmt::format("which {} needs", written.raised_for);
  exported.warnings.push_back({.code = "opset_changed",
                               .message = fmt::format("the model has opset {}, the result {}, {}",
                                                      own->second, written.opset, why),
                               .node = {}});
}

Status ExportOnnx(const ir::Graph& graph, const Request& request, onnx::Format format,
                  Exported& exported) {
  OCTAVO_TRY(const target::TargetQuirks quirks, QuirksOf(request));
  const std::string external_name = exported.options.output_name + ".data";
  OCTAVO_TRY(onnx::Exported written,
             onnx::ExportModel(graph, {.format = format,
                                       .opset = exported.options.opset,
                                       .external_name = external_name,
                                       .external_limit = exported.options.external_over,
                                       .quirks = quirks.avoided,
                                       .kept_float = passes::KeptFloat(graph)}));
  WarnOfOpset(graph, written, exported);
  OCTAVO_CHECK(WarnOfQuirks(graph, quirks.warn_for, written.opset, exported));
  exported.model = {"model.onnx", OutOfMemory(std::move(written.model))};
  if (!written.external.empty()) {
    exported.external.push_back({external_name, OutOfMemory(std::move(written.external))});
  }
  return {};
}

std::vector<DeclaredInput> InputsOf(const Request& request, const std::string& model_digest) {
  std::vector<DeclaredInput> inputs = {
      {InputRole::kModel, request.model.name, request.model.bytes.size(), model_digest}};
  const auto add = [&](InputRole role, const NamedBlob& blob) {
    inputs.push_back({role, blob.name, blob.bytes.size(), Sha256OfMapped(blob.bytes.bytes())});
  };
  for (const NamedBlob& blob : request.external_data) add(InputRole::kExternal, blob);
  if (request.profile) add(InputRole::kProfile, *request.profile);
  for (const NamedBlob& blob : request.samples) add(InputRole::kSamples, blob);
  if (request.target) add(InputRole::kTarget, *request.target);
  return inputs;
}

}  // namespace

Status WriteGraph(const ir::Graph& graph, const Request& request, Exported& exported) {
  switch (exported.options.emit) {
    case EmitForm::kText:
      ExportText(graph, exported);
      return {};
    case EmitForm::kNative:
      exported.model = {"model.octavo", OutOfMemory(native::Write(graph))};
      return {};
    case EmitForm::kQdq:
      return ExportOnnx(graph, request, onnx::Format::kQdq, exported);
    case EmitForm::kQlinear:
      return ExportOnnx(graph, request, onnx::Format::kQLinear, exported);
  }
  return {};
}

Result<Exported> Export(const JobContext& job, const Quantized& quantized) {
  job.Report("export", 0, 1);
  Exported exported{.options = job.options()};
  OCTAVO_CHECK(WriteGraph(quantized.rewriting.graph, job.request, exported));
  exported.bytes = static_cast<int64_t>(exported.model.bytes.size());
  for (const NamedBlob& blob : exported.external) {
    exported.bytes += static_cast<int64_t>(blob.bytes.size());
  }
  // The model contains the output name only as the name of its external data.
  const bool onnx =
      exported.options.emit == EmitForm::kQdq || exported.options.emit == EmitForm::kQlinear;
  if (!onnx || exported.external.empty()) exported.options.output_name.clear();
  exported.inputs = InputsOf(job.request, quantized.digest.get());
  exported.action_digest = ActionDigest(job.request.options, exported.inputs);
  job.Report("export", 1, 1);
  return exported;
}

}  // namespace octavo::job
