// SPDX-License-Identifier: Apache-2.0
// Records a job's rewrites as a certificate (core/verify): the text of the graph after each pass
// that applied a rule, as edits of the text before.
#pragma once

#include <span>

#include "core/passes/pass.h"
#include "core/text/print.h"
#include "core/verify/certificate.h"

namespace octavo::job {

class CertificateRecorder {
 public:
  // The imported graph, before any pass.
  void Begin(const ir::Graph& graph);
  // The graph after a pass, and the ledger so far.  Without a new application nothing is recorded;
  // the next step then has the edits.
  void Add(const ir::Graph& graph, std::span<const passes::LedgerEntry> ledger);
  // The graph that the job exports, and the job's settings.
  verify::Certificate Finish(const ir::Graph& graph, const passes::Settings& settings);

 private:
  std::string TextOf(const ir::Graph& graph);
  void AddStep(const ir::Graph& graph, std::span<const passes::LedgerEntry> fresh);

  verify::Certificate certificate_;
  std::vector<std::string> lines_;  // of the last recorded text
  text::Spelled spelled_;
  std::map<std::string, Blob, std::less<>> known_;  // data of the imported graph
  size_t seen_ = 0;                                 // entries of the ledger
  bool begun_ = false;
};

}  // namespace octavo::job
