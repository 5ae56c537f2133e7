// SPDX-License-Identifier: Apache-2.0
// Misspelt names, patterns of names, and text in lines.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/glob.h"
#include "core/base/nearest_name.h"
#include "core/base/wrapped.h"

namespace octavo {
namespace {

const std::vector<std::string> kNames = {"optimize", "profile", "run", "diff", "Conv", "conv1"};

TEST(NearestName, AnInsertedDeletedReplacedOrSwappedCharacterIsOneEdit) {
  for (const char* word : {"optimise", "optmize", "opttimize", "optimzie", "OPTIMIZE"}) {
    EXPECT_EQ(DidYouMean(word, kNames), "; did you mean 'optimize'?") << word;
  }
}

TEST(NearestName, AWordThatIsNearNoNameGetsNone) {
  for (const char* word : {"quantize", "x", "", "rxy"}) EXPECT_EQ(DidYouMean(word, kNames), "");
}

TEST(NearestName, TheNearestWinsAndOfEqualOnesTheFirst) {
  EXPECT_EQ(DidYouMean("conv2", kNames), "; did you mean 'Conv'?");
  EXPECT_EQ(DidYouMean("conv", kNames), "; did you mean 'Conv'?");
  EXPECT_EQ(DidYouMean("cnov1", kNames), "; did you mean 'conv1'?");
}

TEST(Glob, AStarMatchesAnyCharactersAndAQuestionMarkOne) {
  for (const char* pattern : {"*", "/enc*", "*/Conv_0", "/encoder/layer.?/Conv_0", "/*/*/Conv*",
                              "/encoder/layer.3/Conv_0"}) {
    EXPECT_TRUE(MatchesGlob(pattern, "/encoder/layer.3/Conv_0")) << pattern;
  }
  for (const char* pattern : {"", "enc*", "/encoder/layer.3", "/encoder/layer.?Conv_0", "*_1"}) {
    EXPECT_FALSE(MatchesGlob(pattern, "/encoder/layer.3/Conv_0")) << pattern;
  }
  EXPECT_TRUE(MatchesGlob("", ""));
  EXPECT_FALSE(MatchesGlob("?", ""));
  EXPECT_TRUE(IsGlob("a*") && IsGlob("?") && !IsGlob("onnx::Conv_1[0]"));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  const std::string name(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "a*";
  EXPECT_FALSE(MatchesGlob(pattern + "b", name));
}

TEST(Wrapped, BreaksBetweenWordsAndIndents) {
  EXPECT_EQ(Wrapped("one two three", 2, 7), "one two\n  three");
  EXPECT_EQ(Wrapped("unbreakable x", 0, 5), "unbreakable\nx");
}

}  // namespace
}  // namespace octavo
