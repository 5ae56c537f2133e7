// SPDX-License-Identifier: Apache-2.0
// Reads and writes profiles as JSON and merges the profiles of shards.
#include "core/profile/profile.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/profile/channel_ranges.h"
#include "core/profile/formats/formats.h"

namespace octavo::profile {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <class... Args>
Failure Wrong(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "profile: {}",
              fmt::format(format, std::forward<Args>(args)...))
      .Reason("INVALID_PROFILE");
}

// The float of a JSON number; empty if it is missing, not a number or not finite.
std::optional<float> FloatOf(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  const auto value = static_cast<float>(at->get<double>());
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

Result<Histogram> ReadHistogram(const json& object, const Entry& entry) {
  if (!object.is_object()) return Wrong("'histogram' must be an object");
  const auto low = object.find("low");
  const auto high = object.find("high");
  const auto counts = object.find("counts");
  if (low == object.end() || high == object.end() || counts == object.end() || !low->is_number() ||
      !high->is_number() || !counts->is_array()) {
    return Wrong("'histogram' must have low, high and counts");
  }
  std::vector<int64_t> list;
  for (const json& count : *counts) {
    if (!count.is_number_integer()) return Wrong("'counts' must be integers");
    list.push_back(count.get<int64_t>());
  }
  return Histogram::FromCounts(low->get<double>(), high->get<double>(), std::move(list), entry.min,
                               entry.max, entry.non_finite);
}

// The numbers of one list of `channels`.
std::optional<std::vector<float>> FloatsOf(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_array() || at->size() > kMostChannels) return std::nullopt;
  std::vector<float> numbers;
  for (const json& each : *at) {
    if (!each.is_number()) return std::nullopt;
    numbers.push_back(static_cast<float>(each.get<double>()));
    if (!std::isfinite(numbers.back())) return std::nullopt;
  }
  return numbers;
}

Result<ChannelRanges> ReadChannels(const json& object) {
  if (!object.is_object()) return Wrong("'channels' must be an object");
  const auto axis = object.find("axis");
  auto min = FloatsOf(object, "min"), max = FloatsOf(object, "max");
  if (!min || !max || min->empty() || min->size() != max->size()) {
    return Wrong("'channels' must have lists min and max of the same 1 to {} finite numbers",
                 kMostChannels);
  }
  constexpr int64_t kMostAxes = 64;
  if (axis == object.end() || !axis->is_number_integer() || axis->get<int64_t>() < 0 ||
      axis->get<int64_t>() >= kMostAxes) {
    return Wrong("'channels' must have an axis from 0 to {}", kMostAxes - 1);
  }
  for (size_t c = 0; c < min->size(); ++c) {
    const bool none = (*min)[c] == kNoRangeMin && (*max)[c] == kNoRangeMax;
    if ((*min)[c] > (*max)[c] && !none) return Wrong("'channels': min exceeds max at {}", c);
  }
  return ChannelRanges{.axis = axis->get<int>(), .min = *std::move(min), .max = *std::move(max)};
}

Status ReadValue(const json& object, Profile& profile) {
  if (!object.is_object() || !object.contains("name") || !object["name"].is_string()) {
    return Wrong("every entry of 'values' must be an object with a name");
  }
  const std::string name = object["name"].get<std::string>();
  const auto min = FloatOf(object, "min");
  const auto max = FloatOf(object, "max");
  if (!min || !max || *min > *max) {
    return Wrong("'{}': min and max must be finite numbers, min not above max", name).Field(name);
  }
  Entry entry{.min = *min, .max = *max};
  entry.non_finite = object.value("non_finite", json(0)).is_number_integer()
                         ? object.value("non_finite", int64_t{0})
                         : 0;
  if (object.contains("histogram") && !object["histogram"].is_null()) {
    auto histogram = ReadHistogram(object["histogram"], entry);
    if (!histogram) return Wrong("'{}': {}", name, histogram.error().message).Field(name);
    entry.histogram = std::move(*histogram);
  }
  if (object.contains("channels")) {
    auto channels = ReadChannels(object["channels"]);
    if (!channels) return Wrong("'{}': {}", name, channels.error().message).Field(name);
    entry.channels = *std::move(channels);
  }
  if (!profile.values.emplace(name, std::move(entry)).second) {
    return Wrong("'{}' is listed twice", name).Field(name);
  }
  return {};
}

Result<Profile> ParseOwn(const json& object);

}  // namespace

Result<Profile> Parse(std::string_view text) {
  if (LooksLikeTensorRt(text)) return ReadTensorRt(text);
  if (LooksLikeGlow(text)) return ReadGlow(text);
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Wrong("not a JSON object, nor Glow's YAML or TensorRT's calibration cache");
  }
  if (LooksLikeOnnxRuntime(object)) return ReadOnnxRuntime(object);
  return ParseOwn(object);
}

namespace {

Result<Profile> ParseOwn(const json& object) {
  if (!object.contains("octavo_profile") ||
      (object["octavo_profile"] != 1 && object["octavo_profile"] != kVersion)) {
    return Wrong("'octavo_profile' must be 1 or {}", kVersion).Field("octavo_profile");
  }
  Profile profile;
  const auto digest = object.find("model_digest");
  if (digest != object.end()) {
    if (!digest->is_string()) return Wrong("'model_digest' must be a string").Field("model_digest");
    profile.model_digest = digest->get<std::string>();
  }
  const auto preparation = object.find("preparation");
  if (preparation != object.end()) {
    if (!preparation->is_number_integer() || preparation->get<int64_t>() != kPreparation) {
      return Wrong(
                 "made by preparation {}, but this version uses preparation {}; profile the model "
                 "again",
                 preparation->dump(), kPreparation)
          .Field("preparation");
    }
  }
  const auto samples = object.find("samples");
  if (samples != object.end()) {
    if (!samples->is_number_integer() || samples->get<int64_t>() < 0) {
      return Wrong("'samples' must be a count").Field("samples");
    }
    profile.samples = samples->get<int64_t>();
  }
  const auto names = object.find("names");
  if (names != object.end()) {
    if (*names != "glow") return Wrong("'names' can only be \"glow\"").Field("names");
    profile.glow_names = true;
  }
  const auto values = object.find("values");
  if (values == object.end() || !values->is_array()) {
    return Wrong("'values' must be a list").Field("values");
  }
  for (const json& value : *values) OCTAVO_CHECK(ReadValue(value, profile));
  return profile;
}

}  // namespace

std::string ToJson(const Profile& profile) {
  ordered_json object = {{"octavo_profile", kVersion}};
  if (!profile.model_digest.empty()) object["model_digest"] = profile.model_digest;
  object["preparation"] = profile.preparation;
  object["samples"] = profile.samples;
  if (profile.glow_names) object["names"] = "glow";
  ordered_json& values = object["values"] = ordered_json::array();
  for (const auto& [name, entry] : profile.values) {
    ordered_json value = {{"name", name}, {"min", entry.min}, {"max", entry.max}};
    if (entry.histogram && !entry.histogram->empty()) {
      value["histogram"] = {{"low", entry.histogram->low()},
                            {"high", entry.histogram->high()},
                            {"counts", entry.histogram->counts()}};
    }
    value["non_finite"] = entry.non_finite;
    if (entry.channels) {
      value["channels"] = {{"axis", entry.channels->axis},
                           {"min", entry.channels->min},
                           {"max", entry.channels->max}};
    }
    values.push_back(std::move(value));
  }
  return object.dump() + "\n";
}

Result<Profile> Merge(const std::vector<Profile>& profiles) {
  Profile merged;
  bool first = true;
  for (const Profile& profile : profiles) {
    if (!profile.model_digest.empty() && !merged.model_digest.empty() &&
        profile.model_digest != merged.model_digest) {
      return Wrong("profiles of two models ({} and {})", merged.model_digest, profile.model_digest);
    }
    if (merged.model_digest.empty()) merged.model_digest = profile.model_digest;
    merged.samples += profile.samples;
    merged.glow_names |= profile.glow_names;
    for (const auto& [name, entry] : profile.values) {
      const auto [at, added] = merged.values.emplace(name, entry);
      if (added) continue;
      Entry& into = at->second;
      into.min = std::min(into.min, entry.min);
      into.max = std::max(into.max, entry.max);
      into.non_finite += entry.non_finite;
      // A histogram of only a part of the data would be misleading.
      if (into.histogram && entry.histogram) {
        into.histogram->Merge(*entry.histogram);
      } else {
        into.histogram.reset();
      }
      if (into.channels && !(entry.channels && Merge(*entry.channels, *into.channels))) {
        into.channels.reset();
      }
    }
    first = false;
  }
  if (first) return Wrong("nothing to merge");
  return merged;
}

}  // namespace octavo::profile
