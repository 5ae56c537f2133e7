// SPDX-License-Identifier: Apache-2.0
// octavo verify: imports the model before, has core/verify replay and prove the certificate, and
// exports the replayed graph to compare it with the model after.
#include "core/job/certificate.h"
#include "core/job/counterexample.h"
#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/job/model_form.h"
#include "core/job/settings.h"
#include "core/job/stages.h"
#include "core/native/native.h"
#include "core/options/option_table.h"
#include "core/text/print.h"
#include "core/verify/verify.h"

namespace octavo::job {
namespace {

using nlohmann::ordered_json;

Failure Differs(std::string_view what) {
  return Fail(Code::kInvalidArgument, "{} is not the result of the certified job", what)
      .Field("after")
      .Reason("NOT_CERTIFIED");
}

// A native graph also has the origin of each node, which is no part of a certificate.
Status CompareNative(const ir::Graph& graph, const CertifiedJob& job,
                     const onnx::OpFinder& find_op) {
  OCTAVO_TRY(const ir::Graph after, native::Read(job.after.bytes, find_op));
  if (text::Print(after) != text::Print(graph)) return Differs(job.after.name);
  return {};
}

Status CompareBytes(const ir::Graph& graph, const onnx::Imported& model, const CertifiedJob& job,
                    const Request& request, const passes::Settings& settings) {
  Exported exported{.options = settings.options};
  const Interface interface { model.inputs, model.outputs };
  OpenModel open;
  if (IsOnnx(settings.options.emit)) {
    OCTAVO_TRY(open, FindOpenSizes(request, settings, interface, graph));
  }
  OCTAVO_CHECK(
      WriteOpenGraph(graph, request, interface, open, exported, {.contract = model.contract}));
  if (exported.model.bytes.text() != job.after.bytes.text()) return Differs(job.after.name);
  if (exported.external.size() != job.after_external.size()) {
    return Differs(fmt::format("the external data of {}", job.after.name));
  }
  for (const NamedBlob& wanted : exported.external) {
    const bool found = std::ranges::any_of(job.after_external, [&](const NamedBlob& blob) {
      return blob.name == wanted.name && blob.bytes.text() == wanted.bytes.text();
    });
    if (!found) return Differs(fmt::format("'{}'", wanted.name));
  }
  return {};
}

std::string RowText(const verify::Finding& finding) {
  return fmt::format("not proved: {} ({}) at '{}': {}\n", finding.application.rule,
                     finding.application.effect, finding.application.node, finding.reason);
}

Verification Summary(const verify::Verdict& verdict, const std::vector<NotRun>& not_run) {
  Verification result{.proved = verdict.proved()};
  ordered_json counts;
  for (const auto proof : {verify::Proof::kExact, verify::Proof::kRounded, verify::Proof::kReal,
                           verify::Proof::kNone}) {
    counts[std::string(Name(proof))] =
        std::ranges::count(verdict.findings, proof, &verify::Finding::proof);
  }
  ordered_json open = ordered_json::array();
  for (const verify::Finding& finding : verdict.findings) {
    if (finding.proof != verify::Proof::kNone) continue;
    open.push_back({{"step", finding.step},
                    {"pass", finding.application.pass},
                    {"rule", finding.application.rule},
                    {"effect", finding.application.effect},
                    {"node", finding.application.node},
                    {"reason", finding.reason}});
    result.text += RowText(finding);
  }
  for (const std::string& name : verdict.unexplained) {
    result.text += fmt::format("not proved: no rule accounts for the change of '{}'\n", name);
  }
  ordered_json left_out = ordered_json::array();
  for (const NotRun& each : not_run) {
    left_out.push_back({{"step", each.step},
                        {"elements", each.elements},
                        {"multiplications", each.multiplications}});
    result.text += fmt::format(
        "not run: step {} would cost {:.3g} elements and {:.3g} multiplications, and the limits "
        "are {:.3g} and {:.3g}\n",
        each.step, each.elements, each.multiplications, kMaxRunElements, kMaxRunMultiplications);
  }
  result.text +=
      fmt::format("{} applications: {} exact, {} rounded, {} real, {} not proved\n",
                  verdict.findings.size(), counts["exact"].dump(), counts["rounded"].dump(),
                  counts["real"].dump(), counts["unproved"].dump());
  result.json = ordered_json({{"proved", result.proved},
                              {"applications", counts},
                              {"unproved", open},
                              {"unexplained", verdict.unexplained},
                              {"not_run", left_out}})
                    .dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
                "\n";
  return result;
}

}  // namespace

Result<Verification> VerifyJob(const CertifiedJob& job) {
  OCTAVO_TRY(const verify::Certificate certificate, verify::Read(job.certificate.bytes));
  OCTAVO_TRY(Options options, OptionsFromJson(certificate.options));
  Request request{.options = options,
                  .model = job.before,
                  .external_data = job.before_external,
                  .target = job.target,
                  .limits = job.limits};
  OCTAVO_TRY(const passes::Settings settings, SettingsOf(request));
  if (settings.target.numerics->name != certificate.numerics_mode) {
    return Fail(Code::kInvalidArgument, "the certificate's numerics mode '{}' is not its options'",
                certificate.numerics_mode)
        .Field("certificate");
  }
  const std::vector<NamedBlob> no_samples;
  OCTAVO_TRY(const Loaded before,
             ReadModel({.model = job.before,
                        .external_data = job.before_external,
                        .samples = no_samples,
                        .shape = options.shape,
                        .batch = options.batch,
                        .target = &settings.target,
                        .limits = job.limits,
                        .unsupported = options.strict_ops ? LoadRequest::Unsupported::kRefuse
                                                          : LoadRequest::Unsupported::kLeave}));
  const onnx::OpFinder find_op = FinderFor(&settings.target);
  OCTAVO_TRY(const verify::Verdict verdict,
             verify::Verify(before.model.graph, certificate, find_op));
  OCTAVO_TRY(const std::vector<NotRun> not_run,
             SearchCounterexample(before.model.graph, certificate, verdict, find_op,
                                  *settings.target.numerics));
  if (options.emit == EmitForm::kNative) {
    OCTAVO_CHECK(CompareNative(verdict.after, job, find_op));
  } else {
    OCTAVO_CHECK(CompareBytes(verdict.after, before.model, job, request, settings));
  }
  return Summary(verdict, not_run);
}

}  // namespace octavo::job
