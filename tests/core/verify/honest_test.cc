// SPDX-License-Identifier: Apache-2.0
// Certificates of jobs on random graphs: none is refused, and most applications are proved.
// OCTAVO_SEED=N runs only that seed and prints what is not proved.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "core/text/print.h"
#include "tests/core/verify/recorded_job.h"
#include "tests/support/sanitized.h"

namespace octavo::test {
namespace {

constexpr uint64_t kJobs = kSanitized ? 60 : 600;
// Applications that are proved for each one that is not; fewer among the first few graphs.
constexpr int64_t kLeastProved = kSanitized ? 5 : 8;

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

void PrintEdits(const verify::Certificate& certificate) {
  for (const verify::Step& step : certificate.steps) {
    std::cout << "---- " << (step.applications.empty() ? "" : step.applications[0].pass) << '\n';
    for (const verify::Edit& edit : step.edits) {
      for (const std::string& line : edit.before) std::cout << "- " << line << '\n';
      for (const std::string& line : edit.after) std::cout << "+ " << line << '\n';
    }
  }
}

struct Share {
  int64_t proofs[4] = {};
};

TEST(Certificate, OfAnHonestJobIsProved) {
  const bool one = std::getenv("OCTAVO_SEED") != nullptr;
  const uint64_t first = FromEnvironment("OCTAVO_SEED", 0);
  const uint64_t jobs = one ? 1 : FromEnvironment("OCTAVO_GRAPHS", kJobs);
  std::map<std::string, Share> shares;
  Share all;
  int64_t refused = 0, whole = 0, unexplained = 0;
  for (uint64_t seed = first; seed < first + jobs; ++seed) {
    const auto job = RecordJob(seed);
    if (!job) continue;  // a random graph may be one that the job refuses
    const auto verdict = VerifyJob(*job);
    if (!verdict) {
      if (++refused <= 5) ADD_FAILURE() << "seed " << seed << ": " << verdict.error().message;
      if (one) PrintEdits(job->certificate);
      continue;
    }
    EXPECT_EQ(text::Print(verdict->after), text::Print(job->after)) << seed;
    whole += verdict->proved() ? 1 : 0;
    unexplained += static_cast<int64_t>(verdict->unexplained.size());
    for (const std::string& name : verdict->unexplained) {
      if (one) std::cout << "unexplained " << name << '\n';
    }
    for (const verify::Finding& finding : verdict->findings) {
      ++shares[finding.application.rule].proofs[static_cast<int>(finding.proof)];
      ++all.proofs[static_cast<int>(finding.proof)];
      if (finding.proof != verify::Proof::kNone) continue;
      if (one || std::getenv("OCTAVO_VERBOSE")) {
        std::cout << fmt::format("seed {} step {} {} ({}) at {}: {}\n", seed, finding.step,
                                 finding.application.rule, finding.application.effect,
                                 finding.application.node, finding.reason);
      }
    }
    if (one) PrintEdits(job->certificate);
  }
  for (const auto& [rule, share] : shares) {
    std::cout << fmt::format("{:50} exact {:5} rounded {:5} real {:5} unproved {:5}\n", rule,
                             share.proofs[0], share.proofs[1], share.proofs[2], share.proofs[3]);
  }
  std::cout << fmt::format(
      "{} jobs, {} whole, {} refused, {} unexplained; exact {} rounded {} real {} unproved {}\n",
      jobs, whole, refused, unexplained, all.proofs[0], all.proofs[1], all.proofs[2],
      all.proofs[3]);
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(unexplained, 0);
  // Sums of constants in the mode's own arithmetic have no equation yet.
  if (!one) {
    EXPECT_LT(all.proofs[3] * kLeastProved, all.proofs[0] + all.proofs[1] + all.proofs[2]);
  }
}

}  // namespace
}  // namespace octavo::test
