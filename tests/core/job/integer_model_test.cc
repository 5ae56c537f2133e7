// SPDX-License-Identifier: Apache-2.0
// A job optimizes a model without float computation like any other, and the report says so.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/job.h"

namespace octavo::job {
namespace {

using nlohmann::json;

Request Integers(std::vector<NamedBlob> samples) {
  Request request;
  request.model = {"m.graph", Blob(std::string(R"(graph(%x: tensor<4xi64>) -> (%y) {
  const %one = [1] : tensor<1xi64>
  const %two = [2] : tensor<1xi64>
  %three = Add(%one, %two) : tensor<1xi64>
  %y = Mul(%x, %three) : tensor<4xi64>
}
)"))};
  request.samples = std::move(samples);
  request.options.emit = EmitForm::kText;
  request.options.deterministic = true;
  request.options.threads = 1;
  return request;
}

TEST(IntegerModel, IntegersAreFoldedAndTheReportSaysThatNothingIsQuantized) {
  const std::vector<NamedBlob> none, random = {{"random:1:3", Blob(std::string())}};
  for (const auto& samples : {none, random}) {
    const auto outcome = job::Run(Integers(samples), {}, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->model.bytes.text(),
              "graph(%x: tensor<4xi64>) -> (%y) {\n"
              "  const %three = [3] : tensor<1xi64>\n"
              "  %y = Mul(%x, %three) : tensor<4xi64>\n"
              "  retired %one\n  retired %two\n"
              "}\n");
    const json report = json::parse(outcome->report_json);
    ASSERT_GE(report["warnings"].size(), 1u);
    EXPECT_EQ(report["warnings"][0]["code"], "nothing_to_quantize");
  }
}

TEST(IntegerModel, AProfileOfNoneOfItsValuesIsOfAnotherModel) {
  Request request = Integers({});
  request.profile = NamedBlob{
      "p.json",
      Blob(std::string(R"({"octavo_profile": 1, "values": [{"name": "z", "min": 0, "max": 1}]})"))};
  const auto outcome = job::Run(request, {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, "PROFILE_MISMATCH");
}

}  // namespace
}  // namespace octavo::job
