// SPDX-License-Identifier: Apache-2.0
// `diff`: compares a float model with a quantized one, whose interface may be float or quantized.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/options/option_words.h"

namespace octavo::job {
namespace {

using nlohmann::json;

constexpr std::string_view kModel =
    R"(graph(%x: tensor<1x3x8x8xf32>, %n: tensor<1xi64>) -> (%y, %k) {
  const %w = random(1) : tensor<4x3x3x3xf32>
  %c = Conv(%x, %w) {pads=[1, 1, 1, 1]} : tensor<1x4x8x8xf32>
  %y = Relu(%c) : tensor<1x4x8x8xf32>
  %k = Neg(%n) : tensor<1xi64>
}
)";

ModelInput Float() { return {.model = {"float", Blob(std::string(kModel))}}; }

ModelInput Quantized(EmitForm emit, bool integer_io) {
  Request request;
  request.model = Float().model;
  request.samples = {{"random:7:8", Blob(std::string())}};
  request.options.emit = emit;
  request.options.integer_io = integer_io;
  request.options.output_type = OutputType::kInteger;
  request.options.threads = 1;
  auto outcome = Run(request, {}, {});
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return {};
  return {.model = std::move(outcome->model),
          .samples = {{"random:9:8", Blob(std::string())}},
          .threads = 1};
}

json NumericsOf(const ModelInput& input, std::optional<const numerics::Mode*> against = {}) {
  const auto report = DiffModels(Float(), input, against, {}, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? json::parse(*report)["numerics"] : json();
}

TEST(DiffModels, AnIntegerInterfaceHasTheFiguresOfTheFloatOne) {
  for (const auto& [form, choice] : WordsOf<EmitForm>()) {
    if (form == EmitForm::kText) continue;
    const std::string_view emit = choice.name;
    const json plain = NumericsOf(Quantized(form, false));
    const json integer = NumericsOf(Quantized(form, true));
    ASSERT_EQ(integer["outputs"].size(), 1u) << emit;
    EXPECT_EQ(integer["outputs"][0]["name"], "y");
    EXPECT_GT(integer["outputs"][0]["sqnr_db"], 25) << emit;
    EXPECT_EQ(integer["outputs"][0]["sqnr_db"], plain["outputs"][0]["sqnr_db"]) << emit;
  }
}

TEST(DiffModels, InputsThatDisagreeAreNamed) {
  ModelInput other = Quantized(EmitForm::kQdq, true);
  other.model = {"other",
                 Blob(std::string(R"(graph(%x: tensor<1x3x8x9xf32>, %n: tensor<1xi64>) -> (%y) {
  %y = Relu(%x) : tensor<1x3x8x9xf32>
})"))};
  const auto shape = DiffModels(Float(), other, {}, {}, {});
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().message,
            "input 'x' of the model is f32 [1, 3, 8, 9], but of the baseline f32 [1, 3, 8, 8]");

  other.model.bytes =
      Blob(std::string("graph(%z: tensor<1xf32>, %n: tensor<1xi64>) -> (%y) {\n"
                       "  %y = Relu(%z) : tensor<1xf32>\n}"));
  const auto name = DiffModels(Float(), other, {}, {}, {});
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().message, "input 1 of the model is 'z', but of the baseline 'x'");

  other.model.bytes =
      Blob(std::string("graph(%z: tensor<1xf32>) -> (%y) {\n  %y = Relu(%z) : tensor<1xf32>\n}"));
  const auto count = DiffModels(Float(), other, {}, {}, {});
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().message, "the model has 1 inputs, but the baseline 2");
}

}  // namespace
}  // namespace octavo::job
