// SPDX-License-Identifier: Apache-2.0
// Wrong rewrites, told by one pass of a job and kept by the passes after it: certificate and result
// agree with each other.  None may be proved.  OCTAVO_SEED=N runs only that seed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "core/job/certificate_file.h"
#include "core/passes/passes.h"
#include "core/text/print.h"
#include "tests/core/properties/run_values.h"
#include "tests/core/verify/lies.h"
#include "tests/core/verify/recorded_job.h"
#include "tests/support/random_inputs.h"
#include "tests/support/sanitized.h"

namespace octavo::test {
namespace {

constexpr int kLiesOfEachKind = kSanitized ? 20 : 200;

struct Tally {
  int refused = 0, listed = 0, proved = 0;
};

std::string EditsText(const std::vector<verify::Edit>& edits) {
  std::string text;
  for (const verify::Edit& edit : edits) {
    for (const std::string& line : edit.before) text += "- " + line + "\n";
    for (const std::string& line : edit.after) text += "+ " + line + "\n";
  }
  return text;
}

// Whether the graphs give outputs for some inputs that no rounding explains.
bool OutputsDiffer(const ir::Graph& a, const ir::Graph& b, uint64_t seed) {
  for (uint64_t run = 0; run < 4; ++run) {
    const std::vector<ir::Tensor> inputs = RandomInputs(a, seed * 4 + run);
    const auto x = RunValues::Of(a, inputs), y = RunValues::Of(b, inputs);
    if (!x || !y) return false;
    for (size_t i = 0; i < a.outputs().size(); ++i) {
      const std::vector<double>& was = x->real_values(a.outputs()[i]);
      double largest = 0;
      for (const double each : was) largest = std::max(largest, std::fabs(each));
      if (Distance(was, y->real_values(b.outputs()[i])) > 0.1 * largest) return true;
    }
  }
  return false;
}

// Whether the certificate has the scale that `after` has and `before` has not.
bool LeavesItsScale(const std::string& before, const std::string& after,
                    const verify::Certificate& certificate) {
  const std::string bytes = job::WriteCertificate(certificate);
  size_t at = 0;
  while (at < before.size() && before[at] == after[at]) ++at;
  const size_t begin = after.rfind("scale=", at), end = after.find_first_of(",>", at);
  return bytes.find(after.substr(begin, end - begin + 1)) != std::string::npos;
}

// One lie of the kind, in a pass that the seed chooses; false if the job offers no place for it.
bool Tell(const Lie& lie, uint64_t seed, Tally& tally) {
  Dice dice(seed ^ 0x11e5);
  const auto passes = passes::AllPasses();
  const std::string_view liar = passes[dice.Below(static_cast<int64_t>(passes.size()))]->name;
  // The parameters that quantize and a limit of new-parameters choose are taken as declared.
  if (liar == "quantize" && lie.name == kLies[0].name) return false;
  bool told = false;
  ir::Graph before, after;
  const auto job = RecordJob(seed, [&](std::string_view pass, ir::Graph& graph) {
    if (pass != liar || told) return;
    before = graph;
    told = lie.tell(graph, dice);
    after = graph;
  });
  if (!job || !told ||
      (job->limit == passes::Effect::kNewParameters && lie.name == kLies[0].name)) {
    return false;
  }
  // A lie that a later rule removes is none.
  const auto honest = RecordJob(seed);
  if (!honest || text::Print(honest->after) == text::Print(job->after)) return false;
  // Operands that are equal can be swapped, a Relu of a square can be dropped.  One ulp of a scale
  // is a lie even where these inputs do not show it.
  const bool scale = lie.name == kLies[0].name;
  if (scale && !LeavesItsScale(text::Print(before), text::Print(after), job->certificate)) {
    return false;
  }
  if (!scale && !OutputsDiffer(before, after, seed)) return false;
  const auto verdict = VerifyJob(*job);
  if (!verdict) {
    ++tally.refused;
  } else if (!verdict->proved()) {
    ++tally.listed;
  } else {
    ++tally.proved;
    ADD_FAILURE() << "seed " << seed << ": " << lie.name << " by " << liar << " is proved:\n"
                  << EditsText(job::Diff(verify::LinesOf(text::Print(before)),
                                         verify::LinesOf(text::Print(after))))
                  << (std::getenv("OCTAVO_SEED") != nullptr ? text::Print(before) : "");
  }
  return true;
}

TEST(Certificate, OfALyingPassIsNotProved) {
  const char* seed = std::getenv("OCTAVO_SEED");
  for (const Lie& lie : kLies) {
    Tally tally;
    int told = 0;
    uint64_t next = seed ? std::strtoull(seed, nullptr, 10) : 0;
    const uint64_t most = seed ? next + 1 : 20000;
    for (; next < most && told < kLiesOfEachKind; ++next) told += Tell(lie, next, tally) ? 1 : 0;
    std::cout << fmt::format("{:22} refused {:4} listed {:4} proved {:4}\n", lie.name,
                             tally.refused, tally.listed, tally.proved);
    if (seed == nullptr) {
      EXPECT_EQ(told, kLiesOfEachKind) << lie.name;
    }
  }
}

}  // namespace
}  // namespace octavo::test
