// SPDX-License-Identifier: Apache-2.0
// A step that claims to be exact and has no equation is refused if a run shows a difference.
#include "core/job/counterexample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/sha256.h"
#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "core/text/print.h"

namespace octavo::job {
namespace {

const ir::OpDef* Find(std::string_view name, std::string_view domain) {
  return ops::FindOp(name, domain);
}

constexpr std::string_view kSub =
    "graph(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> (%y) {\n"
    "  %y = Sub(%a, %b) : tensor<1x4xf32>\n}\n";

// The search in a step with this claim that replaces line 1 of the text, which defines %y.
Result<std::vector<NotRun>> SearchIn(std::string_view text, std::string_view effect,
                                     std::string_view line) {
  const auto before = text::Parse(text, {.find_op = &Find});
  EXPECT_TRUE(before) << before.error().message;
  verify::Certificate certificate{.numerics_mode = "onnx",
                                  .options = {{"numerics_limit", "new-parameters"}},
                                  .before_sha256 = Sha256Of(text)};
  certificate.steps.push_back({.applications = {{"p", "p/r", std::string(effect), "y", {"y"}}},
                               .edits = {{1, {verify::LinesOf(text)[1]}, {std::string(line)}}}});
  const auto verdict = verify::Verify(*before, certificate, &Find);
  EXPECT_TRUE(verdict) << verdict.error().message;
  EXPECT_FALSE(verdict->proved());
  return SearchCounterexample(*before, certificate, *verdict, &Find, numerics::kOnnx);
}

std::string MessageFor(std::string_view effect, std::string_view line) {
  const auto found = SearchIn(kSub, effect, line);
  EXPECT_TRUE(!found || found->empty());
  return found ? "" : found.error().message;
}

TEST(Counterexample, IsFoundWhereAnExactClaimIsWrong) {
  EXPECT_THAT(
      MessageFor("exact", "  %y = Sub(%b, %a) : tensor<1x4xf32>"),
      testing::HasSubstr("step 0 claims to be exact, but for random inputs element 0 of 'y'"));
}

TEST(Counterexample, IsNotFoundWhereTheClaimHolds) {
  EXPECT_EQ(MessageFor("exact",
                       "  %z = Sub(%a, %b) : tensor<1x4xf32>\n"
                       "  %y = Max(%z, %z) : tensor<1x4xf32>"),
            "");
}

TEST(Counterexample, IsNotSearchedForAWeakerClaim) {
  EXPECT_EQ(MessageFor("new-parameters", "  %y = Sub(%b, %a) : tensor<1x4xf32>"), "");
}

// Few elements, but 2^36 multiplications.
TEST(Counterexample, IsNotSearchedWhereRunsAreTooDear) {
  const auto found = SearchIn(
      "graph(%x: tensor<1x1x1024x1024xf32>, %w: tensor<1x1x512x512xf32>) -> (%y) {\n"
      "  %y = Conv(%x, %w) : tensor<1x1x513x513xf32>\n}\n",
      "exact", "  %y = Conv(%x, %w) {strides=[1, 1]} : tensor<1x1x513x513xf32>");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().step, 0);
  EXPECT_LT(found->front().elements, kMaxRunElements);
  EXPECT_EQ(found->front().multiplications, 2.0 * 513 * 513 * 512 * 512);
}

TEST(Counterexample, IsNotSearchedInTooManyElements) {
  const auto found = SearchIn(
      "graph(%a: tensor<3x1000000xf32>, %b: tensor<3x1000000xf32>) -> (%y) {\n"
      "  %y = Sub(%a, %b) : tensor<3x1000000xf32>\n}\n",
      "exact", "  %y = Sub(%b, %a) : tensor<3x1000000xf32>");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().elements, 18e6);
}

}  // namespace
}  // namespace octavo::job
