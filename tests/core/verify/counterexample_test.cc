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

// The message for a step with this claim that replaces the line that defines %y.
std::string MessageFor(std::string_view effect, std::string_view line) {
  const std::string text =
      "graph(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> (%y) {\n"
      "  %y = Sub(%a, %b) : tensor<1x4xf32>\n}\n";
  const auto before = text::Parse(text, {.find_op = &Find});
  EXPECT_TRUE(before) << before.error().message;
  verify::Certificate certificate{.numerics_mode = "onnx",
                                  .options = {{"numerics_limit", "new-parameters"}},
                                  .before_sha256 = Sha256Of(text)};
  certificate.steps.push_back(
      {.applications = {{"p", "p/r", std::string(effect), "y", {"y"}}},
       .edits = {{1, {"  %y = Sub(%a, %b) : tensor<1x4xf32>"}, {std::string(line)}}}});
  const auto verdict = verify::Verify(*before, certificate, &Find);
  EXPECT_TRUE(verdict) << verdict.error().message;
  EXPECT_FALSE(verdict->proved());
  const Status found = SearchCounterexample(*before, certificate, *verdict, &Find, numerics::kOnnx);
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

}  // namespace
}  // namespace octavo::job
