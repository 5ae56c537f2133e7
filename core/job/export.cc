// SPDX-License-Identifier: Apache-2.0
// Stage "export": the bytes of the result and the digest of everything they depend on.
#include "core/onnx/export/export.h"
#include "core/base/mapped_pages.h"
#include "core/base/sha256.h"
#include "core/ir/qdq_notes.h"
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

bool NeedsSessionOption(const target::Quirk& quirk) {
  return quirk.instead == target::QuirkRemedy::kSessionOption;
}

// Warns of what the export does not avoid: quirks of the target's own runtime that only a session
// option helps against, and those of a runtime that users of the default target may mean.
Status WarnOfQuirks(const ir::Graph& graph, const target::TargetQuirks& target, int64_t opset,
                    Exported& exported) {
  const std::string& warn_for = target.warn_for;
  std::vector<target::Quirk> open;
  std::ranges::copy_if(target.avoided, std::back_inserter(open), NeedsSessionOption);
  if (!warn_for.empty()) {
    OCTAVO_TRY(const target::TargetQuirks runtime, target::BuiltInQuirks(warn_for));
    std::ranges::copy_if(runtime.avoided, std::back_inserter(open), [&](const auto& quirk) {
      return std::ranges::find(target.avoided, quirk.id, &target::Quirk::id) ==
             target.avoided.end();
    });
  }
  for (const onnx::MetQuirk& met : onnx::FindQuirks(graph, open, opset)) {
    if (!met.quirk->warns) continue;
    const ir::WarningRow* row = ir::FindWarning(met.quirk->code);
    if (row == nullptr) {
      return Fail(Code::kInternal, "quirk '{}' has the unknown warning code '{}'", met.quirk->id,
                  met.quirk->code);
    }
    const std::string help = NeedsSessionOption(*met.quirk)
                                 ? ""
                                 : fmt::format("; an export for target {} avoids it", warn_for);
    exported.warnings.push_back(
        {.code = ir::WarningCode(*row),
         .message = fmt::format("{} '{}': {} {}{}", met.op, met.node,
                                warn_for.empty() ? "the runtime" : warn_for, met.quirk->does, help),
         .node = met.node});
  }
  return {};
}

// Opset and IR version are part of what a model's readers rely on.
void WarnOfVersions(const ir::Graph& graph, const onnx::Contract& contract,
                    const onnx::Exported& written, Exported& exported) {
  const auto own = graph.opsets.find("");
  if (own == graph.opsets.end() || contract.ir_version == 0) return;
  const std::optional<onnx::NeedsOpset>& needs = written.raised_for;
  if (needs && written.opset > own->second) {
    exported.warnings.push_back(
        {.code = "opset_raised",
         .message = fmt::format("opset {} of the model is raised to {}: {} '{}' needs it",
                                own->second, written.opset, needs->op, needs->node),
         .node = needs->node});
  }
  if (written.ir_version <= contract.ir_version) return;
  const std::string why = needs ? fmt::format("opset {} needs it, which {} '{}' needs",
                                              written.opset, needs->op, needs->node)
                          : written.opset > own->second
                              ? fmt::format("opset {} needs it", written.opset)
                              : "its initializers are no graph inputs";
  exported.warnings.push_back(
      {.code = "ir_version_raised",
       .message = fmt::format("IR version {} of the model is raised to {}: {}", contract.ir_version,
                              written.ir_version, why),
       .node = needs ? needs->node : ""});
}

Status ExportOnnx(const ir::Graph& graph, const Request& request, onnx::Format format,
                  const ModelNotes& notes, Exported& exported) {
  OCTAVO_TRY(const target::TargetQuirks quirks, QuirksOf(request));
  const std::string external_name = exported.options.output_name + ".data";
  OCTAVO_TRY(onnx::Exported written,
             onnx::ExportModel(graph, {.format = format,
                                       .opset = exported.options.opset,
                                       .external_name = external_name,
                                       .external_limit = exported.options.external_over,
                                       .quirks = quirks.avoided,
                                       .kept_float = passes::KeptFloat(graph),
                                       .contract = &notes.contract,
                                       .open = notes.open,
                                       .metadata = notes.metadata}));
  exported.warnings.clear();
  exported.external.clear();
  WarnOfVersions(graph, notes.contract, written, exported);
  OCTAVO_CHECK(WarnOfQuirks(graph, quirks, written.opset, exported));
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

// Whether the result is the job's own model, byte for byte.
bool IsUnchanged(const Request& request, const Exported& exported) {
  const auto same = [](const NamedBlob& a, const NamedBlob& b) {
    return a.name == b.name && a.bytes.text() == b.bytes.text();
  };
  return exported.model.bytes.text() == request.model.bytes.text() &&
         std::ranges::equal(exported.external, request.external_data, same);
}

// Of the given profile's file, or of the profile that the samples gave, in the form of one.
std::string ProfileDigest(const Request& request, const Quantized& quantized) {
  if (request.profile) return "sha256:" + Sha256OfMapped(request.profile->bytes.bytes());
  const std::string json = profile::ToJson(*quantized.profile);
  return "sha256:" + Sha256Of(std::as_bytes(std::span(json)));
}

// What the exported model says of the job: the same for all names of the output, because only
// external data are named after it, and without the path of a target's file.
std::map<std::string, std::string> StampOf(const JobContext& job, const Quantized& quantized,
                                           const std::vector<DeclaredInput>& inputs) {
  Options action = job.request.options;
  action.output_name = Options().output_name;
  action.snapshots = false;
  action.advise = false;
  auto options = ActionOptionsJson(action);
  options["target"] = job.settings.target.name;
  std::map<std::string, std::string> stamp = {{ir::kActionDigestKey, ActionDigest(action, inputs)},
                                              {ir::kOptionsKey, options.dump()}};
  if (quantized.profile) stamp[ir::kProfileDigestKey] = ProfileDigest(job.request, quantized);
  return stamp;
}

// A job that changes nothing leaves the entries of an earlier one as they are.
Status WriteStamped(const JobContext& job, const Quantized& quantized,
                    const std::vector<DeclaredInput>& inputs, OpenModel& open, Exported& exported) {
  const Rewriting& rewriting = quantized.rewriting;
  ModelNotes notes{.contract = rewriting.contract};
  if (!IsOnnx(exported.options.emit)) {
    return WriteGraph(rewriting.graph, job.request, exported, notes);
  }
  const auto write = [&] {
    return WriteOpenGraph(rewriting.graph, job.request, rewriting.interface, open, exported, notes);
  };
  if (rewriting.graph.metadata.contains(ir::kActionDigestKey)) {
    OCTAVO_CHECK(write());
    if (IsUnchanged(job.request, exported)) return {};
  }
  exported.stamp = StampOf(job, quantized, inputs);
  notes.metadata = exported.stamp;
  return write();
}

Result<OpenModel> SizesOf(const JobContext& job, const Rewriting& rewriting) {
  const onnx::OpaquePart* opaque = OpaqueOf(rewriting.contract);
  if (opaque != nullptr && !opaque->held.empty()) {
    return FixSizes(job.request, rewriting.interface, rewriting.graph,
                    fmt::format("the values of '{}' are given at this size", opaque->held.front()),
                    {});
  }
  if (IsOnnx(job.options().emit)) {
    return FindOpenSizes(job.request, job.settings, rewriting.interface, rewriting.graph);
  }
  return FixSizes(job.request, rewriting.interface, rewriting.graph,
                  "native and text graphs have fixed sizes", {});
}

}  // namespace

Status WriteGraph(const ir::Graph& graph, const Request& request, Exported& exported,
                  const ModelNotes& notes) {
  switch (exported.options.emit) {
    case EmitForm::kText:
      ExportText(graph, exported);
      return {};
    case EmitForm::kNative:
      exported.model = {"model.octavo", OutOfMemory(native::Write(graph))};
      return {};
    case EmitForm::kQdq:
      return ExportOnnx(graph, request, onnx::Format::kQdq, notes, exported);
    case EmitForm::kQlinear:
      return ExportOnnx(graph, request, onnx::Format::kQLinear, notes, exported);
  }
  return {};
}

bool IsOnnx(EmitForm form) { return form == EmitForm::kQdq || form == EmitForm::kQlinear; }

Status WriteOpenGraph(const ir::Graph& graph, const Request& request, const Interface& interface,
                      OpenModel& open, Exported& exported, ModelNotes notes) {
  if (open.graph) {
    notes.open = &open.sizes;
    Status written = WriteGraph(*open.graph, request, exported, notes);
    if (written || written.error().reason != onnx::kDependsOnSize) return written;
    open = FixSizes(request, interface, graph, written.error().message, written.error().node);
    notes.open = nullptr;
  }
  return WriteGraph(graph, request, exported, notes);
}

Result<Exported> Export(const JobContext& job, const Quantized& quantized) {
  job.Report("export", 0, 1);
  Exported exported{.options = job.options()};
  exported.inputs = InputsOf(job.request, quantized.digest.get());
  exported.action_digest = ActionDigest(job.request.options, exported.inputs);
  OCTAVO_TRY(OpenModel open, SizesOf(job, quantized.rewriting));
  OCTAVO_CHECK(WriteStamped(job, quantized, exported.inputs, open, exported));
  exported.warnings.insert(exported.warnings.begin(), open.warnings.begin(), open.warnings.end());
  exported.bytes = static_cast<int64_t>(exported.model.bytes.size());
  for (const NamedBlob& blob : exported.external) {
    exported.bytes += static_cast<int64_t>(blob.bytes.size());
  }
  // The model contains the output name only as the name of its external data.
  const bool onnx = IsOnnx(exported.options.emit);
  if (!onnx || exported.external.empty()) exported.options.output_name.clear();
  job.Report("export", 1, 1);
  return exported;
}

}  // namespace octavo::job
