// SPDX-License-Identifier: Apache-2.0
#include "core/data/image_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>

#include "core/data/sample_name.h"

namespace octavo::data {
namespace {

using Values = std::vector<std::string_view>;

Failure Wrong(std::string_view key, const Values& values, std::string_view must) {
  return Fail(Code::kUsage, "--image: {}={} must be {}", key, fmt::join(values, ","), must)
      .Field("image");
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<double> RealOf(std::string_view text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// A number or a quotient, as in 1/255.
std::optional<double> QuotientOf(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return RealOf(text);
  const auto over = RealOf(text.substr(0, slash)), under = RealOf(text.substr(slash + 1));
  if (!over || !under || *under == 0) return std::nullopt;
  return *over / *under;
}

std::optional<int64_t> SideOf(std::string_view text) {
  const auto side = NumberOf(text);
  if (!side || *side < 1 || *side > kMaxImageSide) return std::nullopt;
  return side;
}

Status SetSize(const Values& values, ImageSpec& spec) {
  const std::string_view text = values[0];
  const size_t by = text.find('x');
  const auto height = SideOf(text.substr(0, by));
  const auto width = by == std::string_view::npos ? height : SideOf(text.substr(by + 1));
  if (values.size() != 1 || !height || !width) {
    return Wrong("size", values, fmt::format("N or HxW, each from 1 to {}", kMaxImageSide));
  }
  spec.height = *height;
  spec.width = *width;
  return {};
}

Status SetResize(const Values& values, ImageSpec& spec) {
  const auto side = SideOf(values[0]);
  if (values.size() != 1 || !side) {
    return Wrong("resize", values, fmt::format("a length from 1 to {}", kMaxImageSide));
  }
  spec.resize = *side;
  return {};
}

Status SetScale(const Values& values, ImageSpec& spec) {
  spec.scale = QuotientOf(values[0]);
  if (values.size() == 1 && spec.scale) return {};
  return Wrong("scale", values, "a number or a quotient such as 1/255");
}

Status SetChannels(std::string_view key, const Values& values, std::vector<double>& numbers) {
  for (const std::string_view value : values) {
    const auto number = QuotientOf(value);
    if (!number || (key == "std" && *number <= 0)) {
      return Wrong(key, values, key == "std" ? "positive numbers" : "numbers");
    }
    numbers.push_back(*number);
  }
  if (numbers.size() == 1 || numbers.size() == 3) return {};
  return Wrong(key, values, "one number or three");
}

template <class T>
Status SetWord(std::string_view key, const Values& values,
               const std::map<std::string_view, T>& words, std::optional<T>& field) {
  const auto at = words.find(values[0]);
  if (values.size() == 1 && at != words.end()) {
    field = at->second;
    return {};
  }
  Values names;
  for (const auto& [name, value] : words) names.push_back(name);
  return Wrong(key, values, fmt::format("one of {}", fmt::join(names, ", ")));
}

Status SetKey(std::string_view key, const Values& values, ImageSpec& spec) {
  if (key == "size") return SetSize(values, spec);
  if (key == "resize") return SetResize(values, spec);
  if (key == "scale") return SetScale(values, spec);
  if (key == "mean") return SetChannels(key, values, spec.mean);
  if (key == "std") return SetChannels(key, values, spec.std);
  if (key == "layout") {
    return SetWord<ImageLayout>(
        key, values, {{"NCHW", ImageLayout::kNchw}, {"NHWC", ImageLayout::kNhwc}}, spec.layout);
  }
  if (key == "order") {
    return SetWord<ImageOrder>(
        key, values,
        {{"RGB", ImageOrder::kRgb}, {"BGR", ImageOrder::kBgr}, {"GRAY", ImageOrder::kGray}},
        spec.order);
  }
  if (key == "crop") {
    std::optional<bool> crop;
    OCTAVO_CHECK(SetWord<bool>(key, values, {{"none", false}, {"center", true}}, crop));
    spec.crop = *crop;
    return {};
  }
  return Fail(Code::kUsage,
              "--image: '{}' is not a key; keys are size, resize, crop, scale, mean, std, layout, "
              "order",
              key)
      .Field("image");
}

}  // namespace

Result<ImageSpec> ParseImageSpec(std::string_view text) {
  std::vector<std::pair<std::string_view, Values>> keys;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view piece = Trimmed(text.substr(at, end - at));
    at = end + 1;
    const size_t equal = piece.find('=');
    if (equal != std::string_view::npos) {
      keys.push_back({Trimmed(piece.substr(0, equal)), {Trimmed(piece.substr(equal + 1))}});
    } else if (!keys.empty() && !piece.empty()) {
      keys.back().second.push_back(piece);
    } else {
      return Fail(Code::kUsage, "--image: '{}' must be KEY=VALUE,KEY=VALUE,..", text)
          .Field("image");
    }
  }
  ImageSpec spec;
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (keys[j].first != keys[i].first) continue;
      return Fail(Code::kUsage, "--image: '{}' is given twice", keys[i].first).Field("image");
    }
    OCTAVO_CHECK(SetKey(keys[i].first, keys[i].second, spec));
  }
  if (spec.resize > 0 && !spec.crop) {
    return Fail(Code::kUsage, "--image: resize needs crop=center").Field("image");
  }
  if (spec.resize > 0 && spec.resize < std::max(spec.height, spec.width)) {
    return Fail(Code::kUsage, "--image: resize={} must be at least the size, {}x{}", spec.resize,
                spec.height, spec.width)
        .Field("image");
  }
  return spec;
}

}  // namespace octavo::data
