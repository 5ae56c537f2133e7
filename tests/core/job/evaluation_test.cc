// SPDX-License-Identifier: Apache-2.0
// Samples that evaluate and do not calibrate: held back, or of --evaluate.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/execute.h"
#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kModel = R"(graph(%x: tensor<1x4xf32>) -> (%y) {
  const %w = random(1) : tensor<4x4xf32>
  %m = MatMul(%x, %w) : tensor<1x4xf32>
  %y = Relu(%m) : tensor<1x4xf32>
}
)";

// Rows of four elements from -1 to 1, times `factor`.
ir::Tensor Rows(int64_t count, float factor = 1) {
  ir::Tensor rows(ir::DType::kF32, {count, 4});
  for (int64_t i = 0; i < rows.size(); ++i) {
    rows.mutable_values<float>()[i] = factor * (static_cast<float>(i * 7 % 41) / 20 - 1);
  }
  return rows;
}

NamedBlob File(const std::string& name, const ir::Tensor& rows) {
  return {name, Blob(data::WriteNpy(rows))};
}

NamedBlob Labels(const std::vector<int64_t>& classes) {
  return File("labels:l.npy", ir::Tensor::Ints(classes));
}

Request JobOn(std::vector<NamedBlob> samples, std::string_view model = kModel) {
  Request request{.model = {"net.graph", Blob(std::string(model))}, .samples = std::move(samples)};
  request.options.emit = EmitForm::kText;
  request.options.threads = 1;
  return request;
}

struct Done {
  std::string model = {};
  json report = {};

  const json& numerics() const { return report["numerics"]; }
  const json& output() const { return numerics()["outputs"][0]; }
  std::vector<std::string> warnings() const {
    std::vector<std::string> found;
    for (const json& warning : report["warnings"]) found.push_back(warning["code"]);
    return found;
  }
  std::string message(std::string_view code) const {
    for (const json& warning : report["warnings"]) {
      if (warning["code"] == code) return warning["message"];
    }
    return "no " + std::string(code);
  }
};

Done RunJob(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  return {std::string(outcome->model.bytes.text()), json::parse(outcome->report_json)};
}

Error ErrorOf(const Request& request) {
  const auto outcome = Run(request, {}, {});
  EXPECT_FALSE(outcome);
  return outcome ? Error() : outcome.error();
}

NamedBlob ProfileFile() {
  return {"p.json", Blob(std::string(R"({"octavo_profile": 1, "samples": 100, "values": [
    {"name": "x", "min": -1, "max": 1}, {"name": "m", "min": -3, "max": 3},
    {"name": "y", "min": 0, "max": 3}]})"))};
}

TEST(HeldOutSamples, EvaluateAndDoNotCalibrate) {
  // The fourth, eighth .. of 16 samples are ten times as large.
  ir::Tensor rows = Rows(16);
  for (int64_t i = 0; i < rows.size(); ++i) {
    if (i / 4 % 4 == 3) rows.mutable_values<float>()[i] *= 10;
  }
  const Done done = RunJob(JobOn({File("x.npy", rows)}));
  EXPECT_EQ(done.numerics()["samples_role"], "held-out");
  EXPECT_EQ(done.numerics()["samples"], 4);
  EXPECT_EQ(done.numerics()["calibration_samples"], 12);
  EXPECT_LT(done.output()["sqnr_db"].get<double>(), 15);
  EXPECT_GT(done.output()["calibration_sqnr_db"].get<double>(), 30);
  EXPECT_THAT(done.warnings(), Not(Contains("evaluated_on_calibration")));
  const json& input = done.numerics()["values"][0];
  EXPECT_EQ(input["name"], "x");
  EXPECT_GT(input["drift"]["share"].get<double>(), 0.5);
  EXPECT_GT(input["drift"]["excess"].get<double>(), 3);
  EXPECT_THAT(done.message("range_drift"),
              HasSubstr("of the samples that evaluate leave the range"));
}

TEST(HeldOutSamples, GiveTheModelOfTheOthersAlone) {
  const Done held = RunJob(JobOn({File("x.npy", Rows(8))}));
  ir::Tensor others(ir::DType::kF32, {6, 4});
  const ir::Tensor all = Rows(8);
  for (int64_t i = 0, to = 0; i < all.size(); ++i) {
    if (i / 4 % 4 != 3) others.mutable_values<float>()[to++] = all.values<float>()[i];
  }
  Request apart = JobOn({File("x.npy", others)});
  apart.options.holdout = {.kind = profile::Holdout::Kind::kNone};
  const Done done = RunJob(apart);
  EXPECT_EQ(held.model, done.model);
  EXPECT_EQ(done.numerics()["samples_role"], "calibration");
  EXPECT_TRUE(done.output()["calibration_sqnr_db"].is_null());
}

TEST(HeldOutSamples, AreNoneOfFewerThan8OrByChoice) {
  const Done few = RunJob(JobOn({File("x.npy", Rows(7))}));
  EXPECT_EQ(few.numerics()["samples_role"], "calibration");
  EXPECT_EQ(few.numerics()["samples"], 7);
  EXPECT_EQ(few.numerics()["calibration_samples"], 7);
  EXPECT_THAT(few.message("evaluated_on_calibration"), HasSubstr("--evaluate"));
  Request second = JobOn({File("x.npy", Rows(7))});
  second.options.holdout = {.kind = profile::Holdout::Kind::kEvery, .every = 2};
  const Done done = RunJob(second);
  EXPECT_EQ(done.numerics()["samples"], 3);
  EXPECT_EQ(done.numerics()["calibration_samples"], 4);
  EXPECT_EQ(done.message("few_samples"),
            "4 samples calibrate (3 are held back); ranges need 16 or more");
}

TEST(HeldOutSamples, AreWholeBatchesOfAModelThatTakesSeveral) {
  std::string model(kModel);
  for (size_t at = 0; (at = model.find("1x4xf32", at)) != std::string::npos;) model[at] = '2';
  const Done few = RunJob(JobOn({File("x.npy", Rows(14))}, model));
  EXPECT_EQ(few.numerics()["samples_role"], "calibration") << "there are 7 batches";
  const Done done = RunJob(JobOn({File("x.npy", Rows(16))}, model));
  EXPECT_EQ(done.numerics()["samples_role"], "held-out");
  EXPECT_EQ(done.numerics()["samples"], 4);
  EXPECT_EQ(done.numerics()["calibration_samples"], 12);
}

TEST(HeldOutSamples, HaveTheirLabels) {
  std::vector<int64_t> labels(8, 0);
  labels[7] = 4;
  EXPECT_EQ(ErrorOf(JobOn({File("x.npy", Rows(8)), Labels(labels)})).message,
            "labels: that of sample 7 is 4, but there are 4 classes");
  labels[7] = 1;
  labels[0] = 9;  // calibrates
  const Done done = RunJob(JobOn({File("x.npy", Rows(8)), Labels(labels)}));
  EXPECT_EQ(done.numerics()["accuracy"]["samples"], 2);
}

TEST(HeldOutSamples, OfRandomOnes) {
  const Done done = RunJob(JobOn({{"random:1:20", {}}}));
  EXPECT_EQ(done.numerics()["samples_role"], "held-out");
  EXPECT_EQ(done.numerics()["samples_source"], "random");
  EXPECT_EQ(done.numerics()["samples"], 5);
}

TEST(HeldOutSamples, AreNoneWhereAProfileCalibrates) {
  Request request = JobOn({File("x.npy", Rows(16))});
  request.profile = ProfileFile();
  const Done done = RunJob(request);
  EXPECT_EQ(done.numerics()["samples_role"], "evaluation");
  EXPECT_EQ(done.numerics()["samples"], 16);
  EXPECT_EQ(done.numerics()["calibration_samples"], 0);
  EXPECT_TRUE(done.output()["calibration_sqnr_db"].is_null());
  EXPECT_EQ(done.numerics()["values"][0]["drift"]["share"], 0);
}

TEST(EvaluationSamples, LeaveAllOthersToCalibrate) {
  const NamedBlob data = File("x.npy", Rows(16)), other = File("evaluate:x.npy", Rows(5, 3));
  const Done done = RunJob(JobOn({data, other}));
  EXPECT_EQ(done.numerics()["samples_role"], "evaluation");
  EXPECT_EQ(done.numerics()["samples"], 5);
  EXPECT_EQ(done.numerics()["calibration_samples"], 16);
  EXPECT_EQ(done.report["options"]["holdout"], "none");
  EXPECT_FALSE(done.output()["calibration_sqnr_db"].is_null());
  EXPECT_THAT(done.warnings(), Contains("range_drift"));
  EXPECT_THAT(done.warnings(), Not(Contains("few_samples")));
  Request alone = JobOn({data});
  alone.options.holdout = {.kind = profile::Holdout::Kind::kNone};
  EXPECT_EQ(RunJob(alone).model, done.model);
  std::vector<std::string> read;
  for (const json& file : done.report["inputs"]) read.push_back(file["name"]);
  EXPECT_THAT(read, testing::ElementsAre("net.graph", "x.npy", "evaluate:x.npy"));
  EXPECT_THAT(done.report["command"].get<std::string>(),
              HasSubstr("--data x.npy --evaluate x.npy -o"));
}

TEST(EvaluationSamples, AreInTheActionDigest) {
  const NamedBlob data = File("x.npy", Rows(16));
  const auto digest = [&](const NamedBlob& other) {
    return RunJob(JobOn({data, other})).report["action_digest"].get<std::string>();
  };
  const std::string one = digest(File("evaluate:x.npy", Rows(5, 3)));
  EXPECT_NE(one, digest(File("evaluate:x.npy", Rows(5, 2))));
  EXPECT_NE(one, digest(File("evaluate:y.npy", Rows(5, 3))));
  EXPECT_EQ(one, digest(File("evaluate:x.npy", Rows(5, 3))));
}

TEST(EvaluationSamples, HaveTheLabels) {
  const NamedBlob data = File("x.npy", Rows(16)), other = File("evaluate:e.npy", Rows(3));
  const Done done = RunJob(JobOn({data, other, Labels({0, 1, 2})}));
  EXPECT_EQ(done.numerics()["accuracy"]["samples"], 3);
  EXPECT_EQ(ErrorOf(JobOn({data, other, Labels(std::vector<int64_t>(16, 0))})).message,
            "samples: there are 16 labels, but 3 samples");
}

TEST(EvaluationSamples, WithAProfileTakeThePlaceOfData) {
  Request request = JobOn({File("evaluate:x.npy", Rows(20))});
  request.profile = ProfileFile();
  const Done done = RunJob(request);
  EXPECT_EQ(done.numerics()["samples_role"], "evaluation");
  EXPECT_EQ(done.numerics()["samples"], 20);
  request.samples.push_back(File("x.npy", Rows(16)));
  const Error error = ErrorOf(request);
  EXPECT_EQ(error.code, Code::kUsage);
  EXPECT_EQ(error.field, "evaluate");
}

TEST(EvaluationSamples, DoNotCalibrate) {
  const Error error = ErrorOf(JobOn({File("evaluate:x.npy", Rows(20))}));
  EXPECT_EQ(error.code, Code::kUsage);
  EXPECT_THAT(error.message, HasSubstr("needs --data or --profile"));
}

TEST(EvaluationSamples, ThatDoNotFitAreNamed) {
  const NamedBlob data = File("x.npy", Rows(16));
  const Error error =
      ErrorOf(JobOn({data, File("evaluate:e.npy", ir::Tensor(ir::DType::kF32, {2, 5}))}));
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("e.npy"));
  Request both = JobOn({data, File("evaluate:e.npy", Rows(4))});
  both.options.holdout = {.kind = profile::Holdout::Kind::kEvery, .every = 4};
  EXPECT_EQ(ErrorOf(both).field, "holdout");
  EXPECT_EQ(
      ErrorOf(JobOn({data, File("evaluate:e.npy", Rows(4)), File("values:m.npy", Rows(16))})).field,
      "evaluate");
}

TEST(EvaluationSamples, AreJudgedByGates) {
  Request request = JobOn({{"random:1:16", {}}, File("evaluate:e.npy", Rows(4))});
  request.options.require_sqnr = 1;
  EXPECT_EQ(RunJob(request).numerics()["samples"], 4);
  Request random = JobOn({File("x.npy", Rows(16)), {"evaluate:random:1:4", {}}});
  random.options.require_sqnr = 1;
  EXPECT_EQ(ErrorOf(random).field, "require_sqnr");
}

TEST(EvaluationSamples, ThatAreNotFiniteAreNamedAndCounted) {
  ir::Tensor rows = Rows(4);
  rows.mutable_values<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  const NamedBlob data = File("x.npy", Rows(16)), other = File("evaluate:e.npy", rows);
  EXPECT_THAT(ErrorOf(JobOn({data, other})).message, HasSubstr("'e.npy' is NaN at [1,1]"));
  Request allowed = JobOn({data, other});
  allowed.options.allow_non_finite = true;
  EXPECT_EQ(RunJob(allowed).numerics()["non_finite_inputs"][0]["nans"], 1);
}

}  // namespace
}  // namespace octavo::job
