// SPDX-License-Identifier: Apache-2.0
// --search: calibration method and rounding are chosen on samples that do not calibrate.
#include "core/job/search.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/provenance.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::string_view kModel = R"(graph(%x: tensor<1x16xf32>) -> (%y, %z) {
  const %u = random(1) : tensor<16x16xf32>
  const %v = random(2) : tensor<16x16xf32>
  const %w = random(3) : tensor<16x4xf32>
  %a = MatMul(%x, %u) : tensor<1x16xf32>
  %b = Relu(%a) : tensor<1x16xf32>
  %c = MatMul(%b, %v) : tensor<1x16xf32>
  %y = MatMul(%c, %w) : tensor<1x4xf32>
  %z = Relu(%c) : tensor<1x16xf32>
}
)";

// Rows of 16 elements from -1 to 1, times `factor`; every 29th element is `outlier` times as large.
ir::Tensor Rows(int64_t count, float outlier = 1, float factor = 1) {
  ir::Tensor rows(ir::DType::kF32, {count, 16});
  for (int64_t i = 0; i < rows.size(); ++i) {
    const float large = i % 29 == 28 ? outlier : 1;
    rows.mutable_values<float>()[i] =
        factor * large * (static_cast<float>(i * i * 7 % 83) / 41 - 1);
  }
  return rows;
}

// The rows at these places.
ir::Tensor Of(const ir::Tensor& rows, const std::vector<int64_t>& places) {
  ir::Tensor some(ir::DType::kF32, {static_cast<int64_t>(places.size()), 16});
  for (size_t i = 0; i < places.size(); ++i) {
    std::ranges::copy(rows.values<float>().subspan(places[i] * 16, 16),
                      some.mutable_values<float>().begin() + static_cast<ptrdiff_t>(i) * 16);
  }
  return some;
}

NamedBlob File(const std::string& name, const ir::Tensor& rows) {
  return {name, Blob(data::WriteNpy(rows))};
}

Request JobOn(std::vector<NamedBlob> samples, std::string_view model = kModel) {
  Request request{.model = {"net.graph", Blob(std::string(model))}, .samples = std::move(samples)};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  request.options.deterministic = true;
  request.options.search = true;
  return request;
}

Request JobOn(const ir::Tensor& rows, std::string_view model = kModel) {
  return JobOn(std::vector{File("x.npy", rows)}, model);
}

struct Done {
  std::string model = {}, text = {};
  json report = {};

  const json& search() const { return report["search"]; }
  std::string message(std::string_view code) const {
    for (const json& warning : report["warnings"]) {
      std::string text = warning["message"];
      if (warning["code"] == code && text.starts_with("--search")) return text;
    }
    return "no " + std::string(code);
  }
  // "minmax nearest, mse descent"
  std::string tried() const {
    std::string all;
    for (const json& each : search()) {
      all += fmt::format(
          "{}{} {}{}", all.empty() ? "" : ", ", each["calibration"].get<std::string>(),
          each["rounding"].get<std::string>(), each["equalize"].get<bool>() ? " equalized" : "");
    }
    return all;
  }
  int64_t chosen() const {
    int64_t found = -1;
    for (size_t i = 0; i < search().size(); ++i) {
      if (!search()[i]["chosen"].get<bool>()) continue;
      EXPECT_EQ(found, -1) << "two are chosen";
      found = static_cast<int64_t>(i);
    }
    return found;
  }
  double score(size_t i) const { return search()[i]["score_db"]; }
};

Done RunJob(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  return {std::string(outcome->model.bytes.text()), outcome->report_json,
          json::parse(outcome->report_json)};
}

Error ErrorOf(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_FALSE(outcome);
  return outcome ? Error() : outcome.error();
}

// The first that no later one beats by 0.1 dB.
int64_t BestOf(const Done& done) {
  int64_t best = 0;
  for (size_t i = 1; i < done.search().size(); ++i) {
    if (done.score(i) >= done.score(static_cast<size_t>(best)) + 0.1) {
      best = static_cast<int64_t>(i);
    }
  }
  return best;
}

void Give(const json& candidate, Options& options) {
  options.search = false;
  options.calibration = *profile::ParseCalibration(candidate["calibration"].get<std::string>());
  const std::string rounding = candidate["rounding"];
  options.rounding = rounding == "nearest" ? Rounding::kNearest
                     : rounding == "bias"  ? Rounding::kBias
                                           : Rounding::kDescent;
  options.equalize = candidate["equalize"].get<bool>() ? Equalize::kOn : Equalize::kOff;
}

TEST(Search, TheChoiceFollowsTheScores) {
  std::set<int64_t> choices;
  for (const float outlier : {1.0F, 3.0F, 40.0F}) {
    Request request = JobOn(Rows(48, outlier));
    const Done done = RunJob(request);
    ASSERT_EQ(
        done.tried(),
        "minmax nearest, minmax descent, mse descent, percentile:99.99 descent, "
        "minmax descent equalized, mse descent equalized, percentile:99.99 descent equalized");
    const int64_t chosen = done.chosen();
    EXPECT_EQ(chosen, BestOf(done)) << done.search().dump();
    choices.insert(chosen);
    const json& winner = done.search()[static_cast<size_t>(chosen)];
    EXPECT_EQ(done.report["options"]["calibration"], winner["calibration"]);
    EXPECT_EQ(done.report["options"]["rounding"], winner["rounding"]);
    EXPECT_EQ(done.report["options"]["equalize"], winner["equalize"].get<bool>() ? "on" : "off");
    // The winner is calibrated on all samples.
    Give(winner, request.options);
    EXPECT_EQ(RunJob(request).model, done.model);
  }
  EXPECT_GT(choices.size(), 1U) << "the samples do not decide anything";
}

TEST(Search, AScoreIsTheMeanSqnrOfTheOddSamplesAfterTheEvenOnesHaveCalibrated) {
  const ir::Tensor rows = Rows(5, 2);
  const Done done = RunJob(JobOn(rows));
  ASSERT_EQ(done.search().size(), 7U);
  for (size_t i = 0; i < 7; ++i) {
    double sum = 0;
    for (const int64_t odd : {1, 3}) {
      Request request =
          JobOn({File("x.npy", Of(rows, {0, 2, 4})), File("evaluate:x.npy", Of(rows, {odd}))});
      Give(done.search()[i], request.options);
      const Done half = RunJob(request);
      for (const json& output : half.report["numerics"]["outputs"]) {
        sum += std::min(60.0, output["sqnr_db"].get<double>());
      }
    }
    EXPECT_NEAR(done.score(i), sum / 4, 1e-6) << done.search()[i].dump();
  }
}

TEST(Search, NoMoreThanEightSamplesScore) {
  const ir::Tensor rows = Rows(40, 2);
  ir::Tensor changed = rows.Clone();
  // The ninth odd sample.
  for (int64_t k = 0; k < 16; ++k) changed.mutable_values<float>()[17 * 16 + k] *= 0.5F;
  Request one = JobOn(rows), other = JobOn(changed);
  one.options.holdout = other.options.holdout = {.kind = profile::Holdout::Kind::kNone};
  EXPECT_EQ(RunJob(one).search(), RunJob(other).search());
  for (int64_t k = 0; k < 16; ++k) changed.mutable_values<float>()[15 * 16 + k] *= 0.5F;
  other.samples = {File("x.npy", changed)};
  EXPECT_NE(RunJob(one).search(), RunJob(other).search());
}

TEST(Search, TheEarlierOfTwoEqualOnesWins) {
  constexpr std::string_view kRelu = R"(graph(%x: tensor<1x16xf32>) -> (%y) {
  %y = Relu(%x) : tensor<1x16xf32>
}
)";
  const Done done = RunJob(JobOn(Rows(8), kRelu));
  EXPECT_EQ(done.score(0), done.score(1));  // there are no weights to round
  EXPECT_EQ(done.chosen(), BestOf(done));
  EXPECT_NE(done.chosen(), 1);
}

TEST(Search, FewSamplesAreAWarningAndNoTrial) {
  Request request = JobOn(Rows(1));
  const Done done = RunJob(request);
  EXPECT_TRUE(done.search().empty());
  EXPECT_EQ(done.message("few_samples"),
            "--search tried nothing: it needs 2 samples that calibrate, and there is 1");
  request.options.search = false;
  EXPECT_EQ(RunJob(request).model, done.model);
  EXPECT_EQ(RunJob(JobOn(Rows(2))).search().size(), 7U);
  EXPECT_EQ(RunJob(JobOn(Rows(3))).search().size(), 7U);
}

TEST(Search, ThreadsDoNotChangeABit) {
  Request request = JobOn(Rows(48, 3));
  const Done one = RunJob(request);
  for (const int threads : {2, 5}) {
    request.options.threads = threads;
    const Done more = RunJob(request);
    EXPECT_EQ(more.model, one.model);
    EXPECT_EQ(more.text, one.text);
  }
}

TEST(Search, SamplesThatEvaluateDecideNothing) {
  const NamedBlob data = File("x.npy", Rows(12, 3));
  const Done one = RunJob(JobOn({data, File("evaluate:x.npy", Rows(6))}));
  const Done other = RunJob(JobOn({data, File("evaluate:x.npy", Rows(9, 40, 7))}));
  EXPECT_EQ(one.model, other.model);
  EXPECT_EQ(one.search(), other.search());
  // Nor do those that are held back.
  const ir::Tensor rows = Rows(16, 3);
  ir::Tensor changed = rows.Clone();
  for (int64_t i = 0; i < changed.size(); ++i) {
    if (i / 16 % 4 == 3) changed.mutable_values<float>()[i] *= 30;
  }
  const Done held = RunJob(JobOn(rows)), held_other = RunJob(JobOn(changed));
  EXPECT_EQ(held.model, held_other.model);
  EXPECT_EQ(held.search(), held_other.search());
  EXPECT_NE(held.report["numerics"], held_other.report["numerics"]);
}

TEST(Search, AGivenOptionRestrictsTheCandidates) {
  Request request = JobOn(Rows(8));
  request.options.calibration = {.method = profile::Calibration::Method::kMse};
  EXPECT_EQ(RunJob(request).tried(), "mse nearest, mse descent, mse descent equalized");
  request.options.rounding = Rounding::kBias;
  EXPECT_EQ(RunJob(request).tried(), "mse bias, mse bias equalized");
  request.options.equalize = Equalize::kOff;
  EXPECT_EQ(ErrorOf(request).code, Code::kUsage);
  EXPECT_EQ(ErrorOf(request).field, "search");
  request.options.calibration = {};
  EXPECT_EQ(RunJob(request).tried(), "minmax bias, mse bias, percentile:99.99 bias");
  request.options.equalize = Equalize::kOn;
  EXPECT_EQ(RunJob(request).tried(),
            "minmax bias equalized, mse bias equalized, percentile:99.99 bias equalized");
}

TEST(Search, NeedsSamplesThatCalibrate) {
  Request request = JobOn(Rows(8));
  request.profile = {"p.json", Blob(std::string(R"({"octavo_profile": 1, "samples": 100, "values": [
    {"name": "x", "min": -1, "max": 1}]})"))};
  const Error error = ErrorOf(request);
  EXPECT_EQ(error.code, Code::kUsage);
  EXPECT_EQ(error.field, "search");
  EXPECT_THAT(error.message, HasSubstr("--profile"));
}

TEST(Search, HasNoEffectWhereNothingIsQuantized) {
  Request request = JobOn(Rows(8));
  request.options.no_quantize = true;
  const Done done = RunJob(request);
  EXPECT_TRUE(done.search().empty());
  EXPECT_THAT(done.message("nothing_to_quantize"), HasSubstr("--search has no effect"));
}

TEST(Search, ChoosesNothingWithoutAFigure) {
  constexpr std::string_view kIntegers = R"(graph(%x: tensor<1x16xf32>) -> (%y) {
  const %u = random(1) : tensor<16x16xf32>
  %a = MatMul(%x, %u) : tensor<1x16xf32>
  %y = ArgMax(%a) {axis=1} : tensor<1x1xi64>
}
)";
  const Done done = RunJob(JobOn(Rows(8), kIntegers));
  EXPECT_TRUE(done.search().empty());
  EXPECT_THAT(done.message("no_figures"), HasSubstr("--search chose nothing"));
  EXPECT_EQ(done.report["options"]["rounding"], "descent");
}

TEST(Search, AStopIsHeardInEveryTrial) {
  const Request request = JobOn(Rows(8));
  int64_t steps = 0, total = 0;
  ASSERT_TRUE(job::Run(request, {}, [&](const Progress& progress) {
    if (progress.stage != "search") return;
    EXPECT_EQ(progress.done, steps++);
    total = progress.total;
  }));
  // 3 samples calibrate, 3 score each of 7 candidates.
  EXPECT_EQ(total, 24);
  EXPECT_EQ(steps, total + 1);
  for (int64_t at = 0; at < total; ++at) {
    const StopToken stop;
    const auto outcome = job::Run(request, stop, [&](const Progress& progress) {
      EXPECT_NE(progress.stage, "profile");
      if (progress.stage == "search" && progress.done == at) stop.RequestStop();
    });
    ASSERT_FALSE(outcome) << at;
    EXPECT_EQ(outcome.error().code, Code::kCancelled);
  }
}

TEST(Search, ItsReportGivesTheSameJobAgain) {
  const Request request = JobOn(Rows(48, 3));
  const Done done = RunJob(request);
  Request again = request;
  const auto given = GivenOptionsOfReport(done.text);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_TRUE(given->search);
  EXPECT_FALSE(given->rounding);
  again.options = *given;
  again.options.threads = 2;
  const Done second = RunJob(again);
  EXPECT_EQ(second.model, done.model);
  EXPECT_EQ(second.text, done.text);
}

}  // namespace
}  // namespace octavo::job
