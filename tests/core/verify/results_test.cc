// SPDX-License-Identifier: Apache-2.0
// Wrong results with the certificate of the honest job: the model after differs in one place from
// the one that was certified.  Each is refused, in every form of a model.
#include <gtest/gtest.h>

#include <iostream>

#include "core/job/certificate_file.h"
#include "core/job/execute.h"
#include "core/job/stages.h"
#include "core/options/option_table.h"
#include "core/options/option_words.h"
#include "core/text/print.h"
#include "tests/core/verify/lies.h"
#include "tests/core/verify/recorded_job.h"
#include "tests/support/sanitized.h"

namespace octavo::test {
namespace {

constexpr int kOfEachKind = kSanitized ? 20 : 200;
constexpr EmitForm kForms[] = {EmitForm::kText, EmitForm::kNative, EmitForm::kQdq,
                               EmitForm::kQlinear};

// The graph as a job would write it; kUnimplemented if the form cannot express it.
Status Write(const ir::Graph& graph, const Options& options, job::NamedBlob& model,
             std::vector<job::NamedBlob>& external) {
  job::Exported exported{.options = options};
  OCTAVO_CHECK(job::WriteGraph(graph, {.options = options}, exported));
  model = std::move(exported.model);
  external = std::move(exported.external);
  return {};
}

// A job on a random graph whose result is of the form that the seed chooses.
struct Certified {
  ir::Graph after = {};
  Options options = {};
  job::CertifiedJob job = {};
};
Result<Certified> Certify(uint64_t seed) {
  OCTAVO_TRY(RecordedJob recorded, RecordJob(seed));
  recorded.certificate.options["emit"] = std::string(WordOf(kForms[seed % 4]));
  Certified certified{.after = std::move(recorded.after)};
  OCTAVO_TRY(certified.options, OptionsFromJson(recorded.certificate.options));
  OCTAVO_CHECK(Write(recorded.before, {.emit = EmitForm::kText}, certified.job.before,
                     certified.job.before_external));
  certified.job.certificate = {"m.cert", Blob(job::WriteCertificate(recorded.certificate))};
  OCTAVO_CHECK(
      Write(certified.after, certified.options, certified.job.after, certified.job.after_external));
  return certified;
}

TEST(Result, WithOneMutationIsRefused) {
  for (const Lie& lie : kLies) {
    int told = 0, refused = 0, of_form[4] = {};
    for (uint64_t seed = 0; seed < 20000 && told < kOfEachKind; ++seed) {
      auto certified = Certify(seed);
      if (!certified) continue;  // a random graph may be one that the job or the form refuses
      Dice dice(seed ^ 0xaf7e);
      if (!lie.tell(certified->after, dice)) continue;
      const auto honest = job::VerifyJob(certified->job);
      ASSERT_TRUE(honest) << "seed " << seed << ": " << honest.error().message;
      if (!Write(certified->after, certified->options, certified->job.after,
                 certified->job.after_external)) {
        continue;
      }
      const auto verification = job::VerifyJob(certified->job);
      ++told;
      ++of_form[seed % 4];
      refused += verification ? 0 : 1;
      if (verification) {
        ADD_FAILURE() << "seed " << seed << ": a result with a " << lie.name << " is accepted";
      } else {
        EXPECT_EQ(verification.error().reason, "NOT_CERTIFIED") << verification.error().message;
      }
    }
    std::cout << fmt::format("{:22} {} told (text {}, native {}, QDQ {}, QLinear {}), {} refused\n",
                             lie.name, told, of_form[0], of_form[1], of_form[2], of_form[3],
                             refused);
    EXPECT_EQ(told, kOfEachKind) << lie.name;
    for (const int count : of_form) EXPECT_GE(count, kOfEachKind / 20) << lie.name;
  }
}

TEST(Result, WithNamesOfAnyBytesIsProved) {
  const std::string model =
      "graph(%\"x\xff\": tensor<1x4xu8, scale=0.5, zp=128>) -> (%y) {\n"
      "  %\"r\xfe\" = Rescale@\"n\xc3\"(%\"x\xff\") : tensor<1x4xu8, scale=0.5, zp=128>\n"
      "  %y = Relu(%\"r\xfe\") : tensor<1x4xu8, scale=0.5, zp=128>\n}\n";
  job::Request request{.model = {"m.graph", Blob(model)}, .certificate = true};
  request.options.no_quantize = true;
  request.options.emit = EmitForm::kText;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto verification = job::VerifyJob({.before = request.model,
                                            .after = outcome->model,
                                            .certificate = {"c", Blob(outcome->certificate)}});
  ASSERT_TRUE(verification) << verification.error().message;
  EXPECT_TRUE(verification->proved) << verification->text;
  EXPECT_NE(verification->text.find("1 exact"), std::string::npos) << verification->text;
}

}  // namespace
}  // namespace octavo::test
