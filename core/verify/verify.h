// SPDX-License-Identifier: Apache-2.0
// Replays a certificate from the graph that a job imported, and proves each step.
#pragma once

#include "core/text/parse.h"
#include "core/verify/certificate.h"

namespace octavo::verify {

// How far an application of a rule is proved; the first three are levels (term.h).
enum class Proof {
  kExact,    // every stored element stays
  kRounded,  // the same real function with the same clamps
  kReal,     // the same real function; parameters and clamps are as the certificate declares
  kNone,
};
std::string_view Name(Proof proof);

struct Finding {
  int step = 0;
  Application application = {};
  Proof proof = Proof::kNone;
  std::string reason = {};  // of kNone: a sentence
};

struct Verdict {
  std::vector<Finding> findings = {};  // one per application, in the job's order
  // Rewrites that no application accounts for and that are not proved exact.
  std::vector<std::string> unexplained = {};
  ir::Graph after = {};

  bool proved() const;
};

// `before` is the imported graph.  kInvalidArgument if the certificate is refused: it is of another
// model, a step rewrites what is not there or gives no valid graph, or a claim is wrong.
Result<Verdict> Verify(const ir::Graph& before, const Certificate& certificate,
                       const text::OpLookup& find_op);

}  // namespace octavo::verify
