// SPDX-License-Identifier: Apache-2.0
// Requests that can have different results have different action digests; all others have the same.
#include "core/job/action_digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "core/job/job.h"
#include "tests/core/job/tiny_model.h"

namespace octavo::job {
namespace {

constexpr InputRole kRoles[] = {InputRole::kModel, InputRole::kExternal, InputRole::kProfile,
                                InputRole::kSamples, InputRole::kTarget};

std::vector<DeclaredInput> SomeInputs() {
  return {{InputRole::kModel, "m.onnx", 10, std::string(64, '1')},
          {InputRole::kExternal, "w.bin", 20, std::string(64, '2')},
          {InputRole::kSamples, "a.npz", 30, std::string(64, '3')}};
}

TEST(ActionDigest, IsOfTheDeclaredInputsInAnyOrder) {
  const std::string digest = ActionDigest({}, SomeInputs());
  EXPECT_EQ(digest.size(), 7 + 64u);
  std::vector<DeclaredInput> reversed = SomeInputs();
  std::ranges::reverse(reversed);
  EXPECT_EQ(ActionDigest({}, reversed), digest);
}

// Every field of every input, with lengths that join into the same text.
TEST(ActionDigest, DiffersWithEveryFieldOfAnInput) {
  std::map<std::string, std::string> seen = {{ActionDigest({}, SomeInputs()), "unchanged"}};
  const auto expect_new = [&](const std::vector<DeclaredInput>& inputs, const std::string& what) {
    const auto [at, fresh] = seen.emplace(ActionDigest({}, inputs), what);
    EXPECT_TRUE(fresh) << what << " and " << at->second << " have one digest";
  };
  for (size_t i = 0; i < SomeInputs().size(); ++i) {
    const std::string which = SomeInputs()[i].name;
    std::vector<DeclaredInput> inputs = SomeInputs();
    inputs[i].name += "1";
    expect_new(inputs, which + " name");
    inputs[i].name.clear();
    expect_new(inputs, which + " no name");
    inputs = SomeInputs();
    inputs[i].size += 1;
    expect_new(inputs, which + " size");
    inputs = SomeInputs();
    inputs[i].sha256[0] = 'f';
    expect_new(inputs, which + " digest");
    inputs = SomeInputs();
    for (const InputRole role : kRoles) {
      if (role == SomeInputs()[i].role) continue;
      inputs[i].role = role;
      expect_new(inputs, which + " role " + std::to_string(static_cast<int>(role)));
    }
    inputs = SomeInputs();
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
    expect_new(inputs, which + " left out");
  }
  std::vector<DeclaredInput> twice = SomeInputs();
  twice.push_back(twice.back());
  expect_new(twice, "given twice");
}

TEST(ActionDigest, LeavesOutWhatChangesNoByte) {
  const std::string digest = ActionDigest({}, SomeInputs());
  EXPECT_EQ(ActionDigest({.threads = 3}, SomeInputs()), digest);
  EXPECT_NE(ActionDigest({.output_name = "other.onnx"}, SomeInputs()), digest);
  EXPECT_NE(ActionDigest({.snapshots = true}, SomeInputs()), digest);
  EXPECT_NE(ActionDigest({.deterministic = true}, SomeInputs()), digest);
  EXPECT_NE(ActionDigest({.target = "tflite"}, SomeInputs()), digest);
}

TEST(ActionDigest, TakesTheTargetFromItsFile) {
  std::vector<DeclaredInput> inputs = SomeInputs();
  inputs.push_back({InputRole::kTarget, "mine.json", 5, std::string(64, '4')});
  EXPECT_EQ(ActionDigest({.target = "here/mine.json"}, inputs),
            ActionDigest({.target = "there/mine.json"}, inputs));
}

// ------------------------------------------------------------------------- jobs

// A request with a random setting of each of these.
Request RandomRequest(std::mt19937& random) {
  const auto one_of = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  Request request{.model = {"m.graph", Blob(std::string(kTinyModel))},
                  .samples = {{one_of(2) == 0 ? "random:1:2" : "random:2:2", {}}}};
  Options& options = request.options;
  options.deterministic = true;
  options.threads = 1 + one_of(3);
  options.emit = one_of(2) == 0 ? EmitForm::kQdq : EmitForm::kText;
  options.snapshots = one_of(2) == 0;
  options.output_name = one_of(2) == 0 ? "a.onnx" : "b.onnx";
  options.external_over = one_of(2) == 0 ? 0 : 1 << 20;
  if (one_of(3) == 0) options.numerics_limit = NumericsLimit::kExact;
  if (one_of(3) == 0) options.granularity = WeightScales::kPerTensor;
  request.limits.nodes = one_of(2) == 0 ? 1000 : 2000;
  request.certificate = one_of(4) == 0;
  return request;
}

// All results, but for the digest itself.
std::string ResultsOf(const Outcome& outcome) {
  std::string all;
  const auto add = [&](const NamedBlob& blob) {
    all += fmt::format("{} {}\n", blob.name, blob.bytes.size());
    all += blob.bytes.text();
  };
  add(outcome.model);
  for (const NamedBlob& blob : outcome.external) add(blob);
  for (const NamedBlob& blob : outcome.snapshots) add(blob);
  auto report = nlohmann::ordered_json::parse(outcome.report_json);
  report.erase("action_digest");
  return all + report.dump();
}

TEST(ActionDigest, EqualDigestsOfJobsMeanEqualResults) {
  std::mt19937 random(5);
  std::map<std::string, std::string> by_digest;
  int met_again = 0;
  for (int i = 0; i < 200; ++i) {
    const auto outcome = job::Run(RandomRequest(random), {}, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto report = nlohmann::json::parse(outcome->report_json);
    const auto [at, fresh] = by_digest.emplace(report["action_digest"], ResultsOf(*outcome));
    met_again += fresh ? 0 : 1;
    ASSERT_EQ(at->second, ResultsOf(*outcome)) << i;
  }
  EXPECT_GT(met_again, 20);
}

}  // namespace
}  // namespace octavo::job
