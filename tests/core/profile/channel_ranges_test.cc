// SPDX-License-Identifier: Apache-2.0
#include "core/profile/channel_ranges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/cpu.h"

namespace octavo::profile {
namespace {

using nlohmann::json;

ir::Tensor RandomTensor(ir::Shape shape, uint64_t seed) {
  ir::Tensor tensor(ir::DType::kF32, std::move(shape));
  std::mt19937_64 random(seed);
  for (float& x : tensor.mutable_values<float>()) {
    x = static_cast<float>(random() >> 40) * 0x1p-20f - 8.0f;
  }
  return tensor;
}

ChannelRanges RangesOf(const std::vector<ir::Tensor>& tensors, int axis, int threads = 1) {
  ThreadPool pool(threads);
  ChannelRanges ranges = EmptyRanges(axis, tensors.front().shape()[static_cast<size_t>(axis)]);
  for (const ir::Tensor& tensor : tensors) AddTo(ranges, tensor, pool);
  return ranges;
}

TEST(ChannelRanges, AreThoseOfTheElementsAlongTheAxis) {
  const ir::Tensor tensor = RandomTensor({3, 5, 7}, 1);
  for (const int axis : {0, 1, 2}) {
    const ChannelRanges ranges = RangesOf({tensor}, axis);
    ASSERT_EQ(ranges.min.size(), static_cast<size_t>(tensor.shape()[axis]));
    ChannelRanges expected = EmptyRanges(axis, tensor.shape()[axis]);
    const ir::Shape strides = ir::StridesOf(tensor.shape());
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const int64_t c = i / strides[axis] % tensor.shape()[axis];
      const float x = tensor.values<float>()[i];
      expected.min[c] = std::min(expected.min[c], x);
      expected.max[c] = std::max(expected.max[c], x);
    }
    EXPECT_EQ(ranges, expected) << axis;
  }
}

TEST(ChannelRanges, EqualOnAnyInstructionSetAndForAnyNumberOfThreads) {
  for (const ir::Shape& shape : {ir::Shape{4, 300, 17}, ir::Shape{1000, 301}}) {
    ir::Tensor tensor = RandomTensor(shape, 5);
    tensor.mutable_values<float>()[7] = std::numeric_limits<float>::quiet_NaN();
    tensor.mutable_values<float>()[8] = -std::numeric_limits<float>::infinity();
    const ChannelRanges first = RangesOf({tensor}, 1);
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      for (const int threads : {1, 2, 5}) EXPECT_EQ(RangesOf({tensor}, 1, threads), first);
    }
  }
}

TEST(ChannelRanges, WithoutFiniteElementsThereIsNoRange) {
  ir::Tensor tensor(ir::DType::kF32, {2, 2});
  const auto x = tensor.mutable_values<float>();
  x[0] = x[2] = std::numeric_limits<float>::quiet_NaN();
  x[1] = -0.0f;
  const ChannelRanges ranges = RangesOf({tensor}, 1);
  EXPECT_EQ(ranges.min[0], kNoRangeMin);
  EXPECT_EQ(ranges.max[0], kNoRangeMax);
  EXPECT_FALSE(std::signbit(ranges.min[1]));
  EXPECT_EQ(ranges.max[1], 0);
}

Profile ProfileOf(const std::vector<ir::Tensor>& tensors) {
  Profile profile{.samples = static_cast<int64_t>(tensors.size())};
  Histogram histogram;
  for (const ir::Tensor& tensor : tensors) histogram.Add(tensor.values<float>());
  profile.values["v"] = {.min = histogram.min(),
                         .max = histogram.max(),
                         .histogram = histogram,
                         .non_finite = histogram.non_finite(),
                         .channels = RangesOf(tensors, 1)};
  return profile;
}

TEST(ChannelRanges, ShardsMergeToTheBitsOfOneRun) {
  std::vector<ir::Tensor> all;
  for (uint64_t seed = 0; seed < 6; ++seed) all.push_back(RandomTensor({2, 4, 3}, seed));
  // A channel of the first shard has no finite element.
  for (const int64_t i : {0, 1, 2, 12, 13, 14}) all[0].mutable_values<float>()[i] = NAN;
  const Profile whole = ProfileOf(all);
  std::vector<Profile> shards;
  for (const ir::Tensor& tensor : all) {
    auto shard = Parse(ToJson(ProfileOf({tensor})));
    ASSERT_TRUE(shard.has_value()) << shard.error().message;
    shards.push_back(*std::move(shard));
  }
  const auto merged = Merge(shards);
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(ToJson(*merged), ToJson(whole));
}

TEST(ChannelRanges, OfOtherChannelsDoNotMerge) {
  Profile a = ProfileOf({RandomTensor({2, 4, 3}, 1)}), b = ProfileOf({RandomTensor({2, 3, 3}, 1)});
  const auto merged = Merge({a, b});
  ASSERT_TRUE(merged.has_value());
  EXPECT_FALSE(merged->values.at("v").channels.has_value());
}

TEST(ChannelRanges, ProfilesOfVersionOneHaveNone) {
  const auto profile = Parse(
      R"({"octavo_profile": 1, "values": [{"name": "v", "min": 0, "max": 1, "non_finite": 0}]})");
  ASSERT_TRUE(profile.has_value());
  EXPECT_FALSE(profile->values.at("v").channels.has_value());
}

TEST(ChannelRanges, WrongOnesAreRefusedByName) {
  const auto message = [](const json& channels) {
    const json value = {{"name", "v"}, {"min", 0}, {"max", 1}, {"channels", channels}};
    const auto profile =
        Parse(json{{"octavo_profile", 2}, {"values", json::array({value})}}.dump());
    return profile ? std::string("accepted") : profile.error().message;
  };
  const json list = {0.5, 1};
  EXPECT_EQ(message({{"axis", 1}, {"min", list}, {"max", {1, 1}}}), "accepted");
  for (const json& wrong : {json(3), json::object(), json{{"axis", 1}, {"min", list}, {"max", {1}}},
                            json{{"axis", 1}, {"min", json::array()}, {"max", json::array()}},
                            json{{"axis", -1}, {"min", list}, {"max", list}},
                            json{{"axis", 64}, {"min", list}, {"max", list}},
                            json{{"axis", 1.5}, {"min", list}, {"max", list}},
                            json{{"axis", 1}, {"min", {2, 1}}, {"max", list}},
                            json{{"axis", 1}, {"min", {"a", 1}}, {"max", list}},
                            json{{"axis", 1}, {"min", {1e300, 1}}, {"max", {1e300, 1}}},
                            json{{"axis", 1},
                                 {"min", std::vector<int>(kMostChannels + 1, 0)},
                                 {"max", std::vector<int>(kMostChannels + 1, 1)}}}) {
    EXPECT_NE(message(wrong).find("'v'"), std::string::npos) << message(wrong);
    EXPECT_NE(message(wrong).find("channels"), std::string::npos) << message(wrong);
  }
}

}  // namespace
}  // namespace octavo::profile
