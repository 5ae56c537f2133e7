// SPDX-License-Identifier: Apache-2.0
// The optimizing passes repeat until nothing changes; a repeated pass leaves all that a first one
// leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;

// Two Transposes that cancel out once the Relu between them, which its type stands for, is gone.
constexpr std::string_view kModel = R"(graph(%x: tensor<1x2x4x4xf32>) -> (%y) {
  %q = Quantize(%x) : tensor<1x2x4x4xu8, scale=0.03125, zp=0>
  %a = Transpose(%q) {perm=[0, 2, 3, 1]} : tensor<1x4x4x2xu8, scale=0.03125, zp=0>
  %r = Relu(%a) : tensor<1x4x4x2xu8, scale=0.03125, zp=0>
  %b = Transpose(%r) {perm=[0, 3, 1, 2]} : tensor<1x2x4x4xu8, scale=0.03125, zp=0>
  %y = Dequantize(%b) : tensor<1x2x4x4xf32>
}
)";
const NamedBlob kSamples = {"random:7:4", Blob(std::string())};

Request RepeatingRequest() {
  Request request{
      .model = {"m.graph", Blob(std::string(kModel))}, .samples = {kSamples}, .certificate = true};
  request.options = {.emit = EmitForm::kText, .no_quantize = true, .snapshots = true};
  return request;
}

int CountOf(const json& passes, std::string_view name) {
  return static_cast<int>(std::ranges::count_if(
      passes, [&](const json& pass) { return pass["name"] == std::string(name); }));
}

TEST(RepeatedPasses, LeaveASnapshotAndAStepOfTheCertificate) {
  const Request request = RepeatingRequest();
  std::vector<std::string> reported;
  const auto outcome = job::Run(request, {}, [&](const Progress& progress) {
    if (!progress.pass.empty()) reported.emplace_back(progress.pass);
    EXPECT_LE(progress.done, progress.total) << progress.pass;
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  const json report = json::parse(outcome->report_json);
  const json& passes = report["passes"];
  ASSERT_EQ(CountOf(passes, "canonicalize"), 2) << "the graph no longer makes a pass repeat";
  ASSERT_EQ(passes.size(), reported.size());
  for (size_t i = 0; i < passes.size(); ++i) EXPECT_EQ(passes[i]["name"], reported[i]);
  EXPECT_EQ(std::ranges::count_if(
                outcome->snapshots,
                [](const NamedBlob& file) { return file.name.ends_with("-canonicalize.graph"); }),
            2);
  // One line of JSON for the certificate's head, with the number of steps.
  const std::string& certificate = outcome->certificate;
  EXPECT_EQ(json::parse(certificate.substr(0, certificate.find('\n')))["steps"], 2);
}

TEST(RepeatedPasses, AreMeasuredByRule) {
  const Request request = RepeatingRequest();
  const auto outcome = job::Run(request, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  const ModelInput before = {.model = request.model, .samples = {kSamples}, .threads = 1};
  const ModelInput after = {.model = outcome->model, .samples = {kSamples}, .threads = 1};
  const auto measured = AddByRule(outcome->report_json, {}, before, after, {}, {});
  ASSERT_TRUE(measured) << measured.error().message;
  const json report = json::parse(measured->report_json);
  int64_t applied = 0;
  for (const json& run : report["by_rule"]) applied += run["count"].get<int64_t>();
  EXPECT_EQ(applied, static_cast<int64_t>(report["ledger"].size()));
}

}  // namespace
}  // namespace octavo::job
