// SPDX-License-Identifier: Apache-2.0
// A wrong spec is refused with the path of the wrong field.
#include "server/session/spec.h"

#include <gtest/gtest.h>

#include "core/base/sha256.h"

namespace octavo::server {
namespace {

const std::string kDigest = Sha256Of("");

BlobInfo Info(Role role, std::string name, uint64_t size = 1) {
  return {.role = role, .name = std::move(name), .size_bytes = size, .sha256 = kDigest};
}

struct WrongSpec {
  std::vector<BlobInfo> blobs;
  std::string field;
  std::string says;
};

TEST(Spec, EachMistakeNamesItsField) {
  const BlobInfo model = Info(Role::kModel, "m");
  BlobInfo bad_digest = model;
  bad_digest.sha256[0] = 'Z';
  const WrongSpec cases[] = {
      {{}, "spec.blobs", "0 blobs with role MODEL"},
      {{model, model}, "spec.blobs", "2 blobs with role MODEL"},
      {{bad_digest}, "spec.blobs[0].sha256", "64 lower-case hexadecimal"},
      {{model, Info(Role::kReport, "r")}, "spec.blobs[1].role", "REPORT is a result"},
      {{model, Info(Role::kExternal, "")}, "spec.blobs[1].name", "needs a name"},
      {{model, Info(Role::kExternal, "w"), Info(Role::kExternal, "w")},
       "spec.blobs[2].name",
       "'w' is listed twice"},
      {{model, Info(Role::kProfile, "p"), Info(Role::kProfile, "q")},
       "spec.blobs",
       "2 blobs with role PROFILE"},
      {{model, Info(Role::kSamples, std::string(1025, 'n'))}, "spec.blobs[1].name", "1025 bytes"},
  };
  for (const WrongSpec& wrong : cases) {
    const auto status = CheckSpec({.blobs = wrong.blobs}, {});
    ASSERT_FALSE(status) << wrong.says;
    EXPECT_EQ(status.error().code, Code::kInvalidArgument);
    EXPECT_EQ(status.error().field, wrong.field);
    EXPECT_NE(status.error().message.find(wrong.says), std::string::npos) << status.error().message;
  }
}

TEST(Spec, AModelBeyondTheLimitIsTooLargeAndNamesTheFlag) {
  const Limits limits{.model_bytes = 100, .samples_bytes = 10};
  const BlobInfo model = Info(Role::kModel, "m", 60);
  EXPECT_TRUE(CheckSpec({.blobs = {model, Info(Role::kExternal, "w", 40)}}, limits));
  const auto large = CheckSpec({.blobs = {model, Info(Role::kExternal, "w", 41)}}, limits);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::kTooLarge);
  EXPECT_NE(large.error().message.find("--max-model-bytes"), std::string::npos);
  const auto samples = CheckSpec({.blobs = {model, Info(Role::kSamples, "s", 11)}}, limits);
  EXPECT_NE(samples.error().message.find("--max-samples-bytes"), std::string::npos);
}

TEST(Spec, SizesThatWouldWrapAroundAreTooLarge) {
  const auto status = CheckSpec(
      {.blobs = {Info(Role::kModel, "m", UINT64_MAX), Info(Role::kExternal, "w", UINT64_MAX)}}, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kTooLarge);
}

}  // namespace
}  // namespace octavo::server
