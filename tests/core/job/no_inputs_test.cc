// SPDX-License-Identifier: Apache-2.0
// A model without inputs has one sample, which needs no data: each command runs it with and without
// --data.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/execute.h"
#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;

// Folded, it is a constant.
constexpr std::string_view kConstant = R"(graph() -> (%y) {
  const %a = [1, -2, 3, 4] : tensor<2x2xf32>
  const %b = [0.5, 1, -1, 2] : tensor<2x2xf32>
  %c = MatMul(%a, %b) : tensor<2x2xf32>
  %y = Relu(%c) : tensor<2x2xf32>
}
)";
// Octavo does not fold what would grow a job's constants beyond --fold-budget.
constexpr std::string_view kGrowing = R"(graph() -> (%y) {
  const %a = [1, -2] : tensor<1x2xf32>
  const %n = [1000, 2] : tensor<2xi64>
  const %b = [0.5, 1, -1, 2] : tensor<2x2xf32>
  %e = Expand(%a, %n) : tensor<1000x2xf32>
  %c = MatMul(%e, %b) : tensor<1000x2xf32>
  %y = Relu(%c) : tensor<1000x2xf32>
}
)";

Result<Outcome> RunJob(const Request& request) { return Run(request, {}, {}); }

std::vector<NamedBlob> Data(bool with) {
  return with ? std::vector<NamedBlob>{{"random:1:4", Blob(std::string())}}
              : std::vector<NamedBlob>{};
}

ModelInput Input(const NamedBlob& model, bool data) {
  return {.model = model, .samples = Data(data), .threads = 1};
}

class NoInputs : public testing::TestWithParam<bool> {};

TEST_P(NoInputs, EveryCommandRuns) {
  for (const std::string_view text : {kConstant, kGrowing}) {
    const NamedBlob model{"m.graph", Blob(std::string(text))};
    const auto files = RunModel(Input(model, GetParam()), /*all_values=*/true, {}, {});
    ASSERT_TRUE(files) << files.error().message;
    ASSERT_EQ((*files)[0].name, "y.npy");
    const auto profile =
        MakeProfile(Input(model, GetParam()), NumericsLimit::kFewerRoundings, {}, {});
    ASSERT_TRUE(profile) << profile.error().message;
    const auto report = DiffModels(Input(model, GetParam()), Input(model, GetParam()), {}, {}, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(json::parse(*report)["numerics"]["samples"], 1);
  }
}

TEST_P(NoInputs, IsOptimizedInEveryForm) {
  for (const std::string_view text : {kConstant, kGrowing}) {
    for (const EmitForm emit :
         {EmitForm::kQdq, EmitForm::kQlinear, EmitForm::kNative, EmitForm::kText}) {
      Request request;
      request.model = {"m.graph", Blob(std::string(text))};
      request.samples = Data(GetParam());
      request.options.emit = emit;
      request.options.fold_budget = 64;
      request.options.threads = 1;
      const auto outcome = RunJob(request);
      ASSERT_TRUE(outcome) << outcome.error().message;
      const auto before = RunModel(Input(request.model, false), false, {}, {});
      const auto after = RunModel(Input(outcome->model, GetParam()), false, {}, {});
      ASSERT_TRUE(before) << before.error().message;
      ASSERT_TRUE(after) << after.error().message;
      const auto was = data::ReadNpy("y", (*before)[0].bytes);
      const auto is = data::ReadNpy("y", (*after)[0].bytes);
      ASSERT_TRUE(was && is);
      ASSERT_EQ(was->shape(), is->shape());
      for (int64_t i = 0; i < was->size(); ++i) EXPECT_NEAR(was->FloatAt(i), is->FloatAt(i), 0.05);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, NoInputs, testing::Bool());

TEST(Commands, ThatRunAModelWithInputsNeedData) {
  const NamedBlob model{"m.graph", Blob(std::string(R"(graph(%x: tensor<1xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1xf32>
}
)"))};
  const auto files = RunModel(Input(model, false), false, {}, {});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, Code::kUsage);
  EXPECT_EQ(files.error().message, "run needs --data");
  const auto profile = MakeProfile(Input(model, false), NumericsLimit::kFewerRoundings, {}, {});
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, Code::kUsage);
  const auto report = DiffModels(Input(model, false), Input(model, false), {}, {}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kUsage);
}

}  // namespace
}  // namespace octavo::job
