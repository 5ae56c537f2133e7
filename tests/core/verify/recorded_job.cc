// SPDX-License-Identifier: Apache-2.0
#include "tests/core/verify/recorded_job.h"

#include "core/job/certificate.h"
#include "core/job/counterexample.h"
#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "core/options/option_words.h"
#include "core/passes/passes.h"
#include "core/profile/collect.h"
#include "tests/core/properties/dice.h"
#include "tests/core/properties/random_graph.h"
#include "tests/support/random_inputs.h"

namespace octavo::test {

using passes::Effect;

Result<RecordedJob> RecordJob(uint64_t seed, const Meddle& meddle) {
  RecordedJob job;
  const bool quantized = seed % 2 == 0;
  job.before = quantized ? RandomQuantizedGraph(seed) : RandomFloatGraph(seed);
  Dice dice(seed ^ 0xce47);
  ThreadPool pool(1);
  passes::Settings settings;
  settings.target = *target::BuiltIn("cpu-int8");
  settings.pool = &pool;
  static const std::vector<Effect> kLimits = {Effect::kExact,          Effect::kFewerRoundings,
                                              Effect::kFewerRoundings, Effect::kFewerRoundings,
                                              Effect::kFewerClamps,    Effect::kNewParameters};
  settings.limit = dice.Pick(kLimits);
  job.limit = settings.limit;
  for (const OptionWord<NumericsLimit>& word : WordsOf<NumericsLimit>()) {
    if (word.choice.name == passes::Name(settings.limit)) {
      settings.options.numerics_limit = word.value;
    }
  }
  settings.options.integer_io = dice.Chance(10);
  settings.options.sink_quantize = dice.Chance(10);
  settings.options.leave_integers = dice.Chance(10);
  settings.options.own_parameters = dice.Chance(10);

  passes::Findings findings;
  job::CertificateRecorder recorder;
  recorder.Begin(job.before);
  job.after = job.before;
  std::optional<profile::Profile> profile;
  for (const passes::Pass* pass : passes::AllPasses()) {
    if (pass->name == "lower" && !quantized) {
      OCTAVO_TRY(profile,
                 profile::Collect(
                     job.after, {RandomInputs(job.after, seed), RandomInputs(job.after, seed + 1)},
                     {.samples = 2}, pool, {}));
      settings.profile = &*profile;
    }
    const passes::Pass* pipeline[] = {pass};
    OCTAVO_TRY(const auto records,
               passes::RunPipeline(pipeline, {}, settings, job.after, findings));
    if (meddle) meddle(pass->name, job.after);
    recorder.Add(job.after, findings.ledger);
  }
  job.certificate = recorder.Finish(job.after, settings);
  return job;
}

Result<verify::Verdict> VerifyJob(const RecordedJob& job) {
  const auto find_op = [](std::string_view name, std::string_view domain) {
    return ops::FindOp(name, domain);
  };
  OCTAVO_TRY(verify::Verdict verdict, verify::Verify(job.before, job.certificate, find_op));
  OCTAVO_CHECK(
      job::SearchCounterexample(job.before, job.certificate, verdict, find_op, numerics::kOnnx));
  return verdict;
}

}  // namespace octavo::test
