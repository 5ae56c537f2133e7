// SPDX-License-Identifier: Apache-2.0
// Stage "export": the bytes of the result and the digest of everything they depend on.
#include "core/onnx/export/export.h"
#include "core/base/mapped_pages.h"
#include "core/base/sha256.h"
#include "core/base/version.h"
#include "core/job/stages.h"
#include "core/native/native.h"
#include "core/options/option_table.h"
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

Status ExportOnnx(const ir::Graph& graph, onnx::Format format, Exported& exported) {
  const std::string external_name = exported.options.output_name + ".data";
  OCTAVO_TRY(onnx::Exported written,
             onnx::ExportModel(graph, {.format = format,
                                       .opset = exported.options.opset,
                                       .external_name = external_name,
                                       .external_limit = exported.options.external_over}));
  exported.model = {"model.onnx", OutOfMemory(std::move(written.model))};
  if (!written.external.empty()) {
    exported.external.push_back({external_name, OutOfMemory(std::move(written.external))});
  }
  return {};
}

Status Write(const ir::Graph& graph, Exported& exported) {
  switch (exported.options.emit) {
    case EmitForm::kText:
      ExportText(graph, exported);
      return {};
    case EmitForm::kNative:
      exported.model = {"model.octavo", OutOfMemory(native::Write(graph))};
      return {};
    case EmitForm::kQdq:
      return ExportOnnx(graph, onnx::Format::kQdq, exported);
    case EmitForm::kQlinear:
      return ExportOnnx(graph, onnx::Format::kQLinear, exported);
  }
  return {};
}

std::string ActionDigest(const Request& request, const std::string& model_digest,
                         const Options& options) {
  Sha256 hash;
  const auto add_digest = [&](std::string_view name, const std::string& digest) {
    hash.Update(fmt::format("{} {} ", name.size(), name));
    hash.Update(digest);
  };
  const auto add = [&](std::string_view name, const Blob& bytes) {
    add_digest(name, Sha256OfMapped(bytes.bytes()));
  };
  hash.Update(fmt::format("octavo {} ", Version()));
  hash.Update(OptionsJson(options).dump());
  add_digest("model", model_digest);
  for (const NamedBlob& blob : request.external_data) add(blob.name, blob.bytes);
  if (request.profile) add("profile", request.profile->bytes);
  for (const NamedBlob& blob : request.samples) add(blob.name, blob.bytes);
  if (request.target) add("target", request.target->bytes);
  return "sha256:" + hash.Finish();
}

}  // namespace

Result<Exported> Export(const JobContext& job, const Quantized& quantized) {
  job.Report("export", 0, 1);
  Exported exported{.options = job.options()};
  OCTAVO_CHECK(Write(quantized.rewriting.graph, exported));
  exported.bytes = static_cast<int64_t>(exported.model.bytes.size());
  for (const NamedBlob& blob : exported.external) {
    exported.bytes += static_cast<int64_t>(blob.bytes.size());
  }
  // The model contains the output name only as the name of its external data.
  const bool onnx =
      exported.options.emit == EmitForm::kQdq || exported.options.emit == EmitForm::kQlinear;
  if (!onnx || exported.external.empty()) exported.options.output_name.clear();
  exported.action_digest = ActionDigest(job.request, quantized.digest.get(), exported.options);
  job.Report("export", 1, 1);
  return exported;
}

}  // namespace octavo::job
