// SPDX-License-Identifier: Apache-2.0
// A job's certificate and result, as `octavo verify` checks them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "tests/core/job/tiny_model.h"

namespace octavo::job {
namespace {

Request TinyRequest(EmitForm form) {
  Request request{.model = {"m.graph", Blob(std::string(kTinyModel))},
                  .samples = {{"random:1:4", {}}},
                  .certificate = true};
  request.options.emit = form;
  request.options.rounding = Rounding::kNearest;  // what samples choose cannot be proved
  return request;
}

CertifiedJob Certified(const Request& request, const Outcome& outcome) {
  return {.before = request.model,
          .before_external = request.external_data,
          .after = outcome.model,
          .after_external = outcome.external,
          .certificate = {"m.cert", Blob(outcome.certificate)}};
}

class EveryForm : public testing::TestWithParam<EmitForm> {};

TEST_P(EveryForm, IsProved) {
  const Request request = TinyRequest(GetParam());
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto verification = VerifyJob(Certified(request, *outcome));
  ASSERT_TRUE(verification) << verification.error().message;
  EXPECT_TRUE(verification->proved) << verification->text;
  const auto json = nlohmann::json::parse(verification->json);
  EXPECT_TRUE(json["proved"]);
  EXPECT_GT(json["applications"]["exact"], 0);
  EXPECT_EQ(json["applications"]["unproved"], 0);
}

TEST_P(EveryForm, IsRefusedWithAnotherResult) {
  const Request request = TinyRequest(GetParam());
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  Request other = request;
  other.samples = {{"random:2:4", {}}};
  const auto result = job::Run(other, {}, {});
  ASSERT_TRUE(result) << result.error().message;
  CertifiedJob mixed = Certified(request, *outcome);
  mixed.after = result->model;
  mixed.after_external = result->external;
  const auto verification = VerifyJob(mixed);
  ASSERT_FALSE(verification);
  EXPECT_EQ(verification.error().reason, "NOT_CERTIFIED") << verification.error().message;
}

// Samples chose the weights: this is listed, and all else is proved.
TEST(VerifyJob, ListsWhatSamplesChose) {
  Request request = TinyRequest(EmitForm::kText);
  request.options.rounding = Rounding::kDescent;
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto verification = VerifyJob(Certified(request, *outcome));
  ASSERT_TRUE(verification) << verification.error().message;
  EXPECT_FALSE(verification->proved);
  const auto report = nlohmann::json::parse(verification->json);
  EXPECT_FALSE(report["unproved"].empty());
  for (const auto& row : report["unproved"]) EXPECT_EQ(row["pass"], "round-weights") << row;
  EXPECT_TRUE(report["unexplained"].empty()) << report["unexplained"];
}

INSTANTIATE_TEST_SUITE_P(Forms, EveryForm,
                         testing::Values(EmitForm::kQdq, EmitForm::kQlinear, EmitForm::kNative,
                                         EmitForm::kText));

// Every byte of a model counts: the replayed graph is exported and compared.
TEST(VerifyJob, RefusesAnyAlteredByteOfTheResult) {
  const Request request = TinyRequest(EmitForm::kQdq);
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  CertifiedJob job = Certified(request, *outcome);
  const std::string bytes(outcome->model.bytes.text());
  int refused = 0;
  const size_t step = bytes.size() / 50 + 1;
  for (size_t at = 0; at < bytes.size(); at += step) {
    std::string altered = bytes;
    altered[at] ^= 1;
    job.after.bytes = Blob(std::move(altered));
    refused += VerifyJob(job) ? 0 : 1;
  }
  EXPECT_EQ(refused, static_cast<int>((bytes.size() + step - 1) / step));
}

TEST(VerifyJob, RefusesTheCertificateOfAnotherModel) {
  const Request request = TinyRequest(EmitForm::kText);
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  CertifiedJob job = Certified(request, *outcome);
  std::string other(kTinyModel);
  other.replace(other.find("random(1)"), 9, "random(3)");
  job.before.bytes = Blob(std::move(other));
  const auto verification = VerifyJob(job);
  ASSERT_FALSE(verification);
  EXPECT_THAT(verification.error().message, testing::HasSubstr("another model"));
}

TEST(VerifyJob, CertificateChangesNoOtherResult) {
  Request request = TinyRequest(EmitForm::kQdq);
  request.options.deterministic = true;
  const auto with = job::Run(request, {}, {});
  request.certificate = false;
  const auto without = job::Run(request, {}, {});
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->model.bytes.text(), without->model.bytes.text());
  EXPECT_EQ(with->report_json, without->report_json);
  EXPECT_EQ(without->certificate, "");
}

}  // namespace
}  // namespace octavo::job
