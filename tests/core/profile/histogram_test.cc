// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/cpu.h"
#include "core/profile/profile.h"

namespace octavo::profile {
namespace {

std::vector<float> RandomValues(uint32_t seed, size_t count) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  const float scale = std::ldexp(1.0f, static_cast<int>(generator() % 40) - 20);
  for (float& value : values) {
    value = scale * (static_cast<float>(generator() % 20001) - 7000.0f) / 10000.0f;
  }
  return values;
}

Histogram Of(std::span<const float> values) {
  Histogram histogram;
  histogram.Add(values);
  return histogram;
}

TEST(Histogram, ShardsInAnyOrderGiveTheBitsOfOneRun) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::vector<float> values = RandomValues(seed, 1000);
    const std::vector<float> other = RandomValues(seed + 1000, 300);
    values.insert(values.end(), other.begin(), other.end());
    const Histogram whole = Of(values);

    const auto all = std::span<const float>(values);
    Histogram forward, backward, merged;
    for (size_t i = 0; i < values.size(); i += 130) {
      const auto shard = all.subspan(i, std::min<size_t>(130, values.size() - i));
      forward.Add(shard);
      merged.Merge(Of(shard));
    }
    for (size_t i = values.size(); i-- > 0;) backward.Add(all.subspan(i, 1));
    EXPECT_EQ(whole, forward) << seed;
    EXPECT_EQ(whole, backward) << seed;
    EXPECT_EQ(whole, merged) << seed;
  }
}

TEST(Histogram, EqualOnAnyInstructionSetAndForAnyNumberOfThreads) {
  std::mt19937 random(3);
  std::normal_distribution<float> draw(0.5f, 2);
  std::vector<float> values(200003);
  for (float& value : values) value = draw(random);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  values[100] = std::numeric_limits<float>::infinity();
  values[5000] = -1e-38f;
  values[5001] = -0.0f;
  Histogram first;
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      Histogram histogram;
      histogram.Add(values, &pool);
      if (first.empty()) first = histogram;
      EXPECT_EQ(histogram.counts(), first.counts()) << IsaName(isa);
      EXPECT_EQ(histogram.total(), first.total());
      EXPECT_EQ(histogram.min(), first.min());
    }
  }
  EXPECT_EQ(first.non_finite(), 2);
}

// Bins near 0 are computed in float, others in double.
TEST(Histogram, EveryValueIsCountedInItsBin) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> draw(-1, 1);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const float center : {0.0f, 3.0f, 1e7f, -1e30f}) {
    for (const float span : {1e-38f, 0.01f, 1.0f, 900.0f, 1e6f, 1e33f}) {
      std::vector<float> values = {-0.0f, kNaN, -std::numeric_limits<float>::infinity(), -1e-40f};
      for (int i = 0; i < 1000; ++i) values.push_back(center + span * draw(random));
      const Histogram histogram = Of(values);
      std::vector<int64_t> counts(histogram.counts().size());
      for (const float value : values) {
        if (!std::isfinite(value)) continue;
        const double bin = std::floor(double{value} / histogram.width());
        ++counts.at(static_cast<size_t>(bin - histogram.low() / histogram.width()));
      }
      EXPECT_EQ(histogram.counts(), counts) << center << " +- " << span;
      EXPECT_EQ(histogram.non_finite(), 2);
    }
  }
}

TEST(Histogram, BinsAreTheFinestPowerOfTwoThatFits) {
  const std::vector<float> values = {0, 1};
  const Histogram histogram = Of(values);
  // Width 2^-10 needs bins 0..1024; the next smaller width, 2^-11, would need bins 0..2048, one too
  // many.
  EXPECT_EQ(histogram.width(), std::ldexp(1.0, -10));
  EXPECT_EQ(histogram.counts().size(), 1025u);
  EXPECT_EQ(histogram.low(), 0);
  EXPECT_EQ(histogram.total(), 2);
}

TEST(Histogram, AConstantHasOneBin) {
  for (const float value : {0.0f, -0.0f, 1.0f, -3.25f, 1e-30f, 3e38f}) {
    const std::vector<float> values(5, value);
    const Histogram histogram = Of(values);
    EXPECT_EQ(histogram.counts(), std::vector<int64_t>{5}) << value;
    EXPECT_LE(histogram.low(), value);
    EXPECT_GT(histogram.high(), value);
  }
}

TEST(Histogram, ExtremesOfFloatAreCovered) {
  const std::vector<float> values = {-3.4e38f, 1e-45f, 0.0f, 3.4e38f};
  const Histogram histogram = Of(values);
  EXPECT_LE(histogram.counts().size(), static_cast<size_t>(kMaxBins));
  EXPECT_EQ(histogram.total(), 4);
}

TEST(Histogram, WhatIsNotFiniteIsCountedApart) {
  const std::vector<float> values = {1, NAN, INFINITY, -INFINITY, 2};
  const Histogram histogram = Of(values);
  EXPECT_EQ(histogram.total(), 2);
  EXPECT_EQ(histogram.non_finite(), 3);
  EXPECT_EQ(histogram.min(), 1);
  EXPECT_EQ(histogram.max(), 2);
}

TEST(Profile, JsonReadsBackToTheSameProfile) {
  Profile profile{.model_digest = "sha256:00", .samples = 3};
  for (uint32_t seed = 0; seed < 5; ++seed) {
    const Histogram histogram = Of(RandomValues(seed, 100));
    profile.values["v" + std::to_string(seed)] =
        Entry{histogram.min(), histogram.max(), histogram, 0};
  }
  profile.values["by hand"] = Entry{-1, 1, std::nullopt, 0};
  const auto read = Parse(ToJson(profile));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, profile);
}

TEST(Profile, MergingShardsEqualsOneRun) {
  const std::vector<float> values = RandomValues(7, 500);
  const auto profile_of = [](std::span<const float> part, int64_t samples) {
    const Histogram histogram = Of(part);
    Profile profile{.model_digest = "sha256:aa", .samples = samples};
    profile.values["x"] = Entry{histogram.min(), histogram.max(), histogram, 0};
    return profile;
  };
  const auto all = std::span<const float>(values);
  const auto merged = Merge({profile_of(all.subspan(200), 3), profile_of(all.subspan(0, 200), 2)});
  ASSERT_TRUE(merged);
  EXPECT_EQ(ToJson(*merged), ToJson(profile_of(all, 5)));
}

TEST(Profile, ProfilesOfTwoModelsDoNotMerge) {
  const auto merged = Merge({Profile{.model_digest = "a"}, Profile{.model_digest = "b"}});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, Code::kInvalidArgument);
}

TEST(Profile, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not a JSON object"},
      {"{}", "'octavo_profile' must be 1"},
      {R"({"octavo_profile": 1})", "'values' must be a list"},
      {R"({"octavo_profile": 1, "values": [{"min": 0}]})", "with a name"},
      {R"({"octavo_profile": 1, "values": [{"name": "a", "min": 1, "max": 0}]})",
       "'a': min and max"},
      {R"({"octavo_profile": 1, "values": [{"name": "a", "min": 0, "max": "NaN"}]})", "'a': min"},
      {R"({"octavo_profile": 1, "preparation": 7, "values": []})", "preparation 7"},
      {R"({"octavo_profile": 1, "values": [{"name": "a", "min": 0, "max": 1,
          "histogram": {"low": 0, "high": 3, "counts": [1]}}]})",
       "'a': histogram"},
      {R"({"octavo_profile": 1, "values": [{"name": "a", "min": 0, "max": 1},
          {"name": "a", "min": 0, "max": 1}]})",
       "'a' is listed twice"},
  };
  for (const auto& [text, message] : cases) {
    const auto profile = Parse(text);
    ASSERT_FALSE(profile) << text;
    EXPECT_EQ(profile.error().code, Code::kInvalidArgument) << text;
    EXPECT_NE(profile.error().message.find(message), std::string::npos) << profile.error().message;
  }
}

}  // namespace
}  // namespace octavo::profile
