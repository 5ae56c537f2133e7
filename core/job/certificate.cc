// SPDX-License-Identifier: Apache-2.0
#include "core/job/certificate.h"

#include <algorithm>
#include <set>

#include "core/base/sha256.h"
#include "core/base/version.h"
#include "core/job/certificate_file.h"
#include "core/options/option_table.h"

namespace octavo::job {

std::string CertificateRecorder::TextOf(const ir::Graph& graph) {
  return text::Print(graph, {.payload =
                                 [&](const std::string& digest, const ir::Tensor& tensor) {
                                   if (!begun_) {
                                     known_.emplace(digest, Blob());
                                   } else if (!known_.count(digest)) {
                                     certificate_.data.try_emplace(digest, tensor.ToBlob());
                                   }
                                 },
                             .spelled = &spelled_});
}

void CertificateRecorder::Begin(const ir::Graph& graph) {
  const std::string text = TextOf(graph);
  certificate_.before_sha256 = Sha256Of(text);
  lines_ = verify::LinesOf(text);
  begun_ = true;
}

void CertificateRecorder::Add(const ir::Graph& graph, std::span<const passes::LedgerEntry> ledger) {
  if (ledger.size() == seen_) return;
  AddStep(graph, ledger.subspan(seen_));
  seen_ = ledger.size();
}

void CertificateRecorder::AddStep(const ir::Graph& graph,
                                  std::span<const passes::LedgerEntry> fresh) {
  verify::Step step;
  for (const passes::LedgerEntry& entry : fresh) {
    step.applications.push_back({.pass = entry.pass,
                                 .rule = entry.rule,
                                 .effect = std::string(passes::Name(entry.effect)),
                                 .node = entry.node,
                                 .values = entry.values});
  }
  std::vector<std::string> lines = verify::LinesOf(TextOf(graph));
  step.edits = Diff(lines_, lines);
  lines_ = std::move(lines);
  if (step.applications.empty() && step.edits.empty()) return;
  certificate_.steps.push_back(std::move(step));
}

verify::Certificate CertificateRecorder::Finish(const ir::Graph& graph,
                                                const passes::Settings& settings) {
  AddStep(graph, {});
  certificate_.octavo_version = std::string(Version());
  certificate_.numerics_mode = std::string(settings.target.numerics->name);
  certificate_.options = OptionsJson(settings.options);
  std::set<std::string, std::less<>> applied;
  for (const verify::Step& step : certificate_.steps) {
    for (const verify::Application& each : step.applications) applied.insert(each.rule);
  }
  certificate_.rules = nlohmann::ordered_json::array();
  for (const passes::Pass* pass : passes::AllPasses()) {
    for (const passes::Rule& rule : pass->rules) {
      if (!applied.count(rule.id)) continue;
      certificate_.rules.push_back({{"id", rule.id},
                                    {"pattern", rule.pattern},
                                    {"replacement", rule.replacement},
                                    {"effect", passes::Name(rule.effect)},
                                    {"condition", rule.condition}});
    }
  }
  return std::move(certificate_);
}

}  // namespace octavo::job
