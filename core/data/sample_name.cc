// SPDX-License-Identifier: Apache-2.0
#include "core/data/sample_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace octavo::data {
namespace {

constexpr std::string_view kRandom = "random:", kLabels = "labels:", kValues = "values:",
                           kEvaluate = "evaluate:";

std::string_view LastPartOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

SampleName ParseSampleName(std::string_view name) {
  const size_t end = name.find_first_of("/:");
  if (!name.starts_with('#') || end == std::string_view::npos) return {.path = std::string(name)};
  const auto set = NumberOf(name.substr(1, end - 1));
  if (!set) return {.path = std::string(name)};
  SampleName parsed{.set = *set, .path = std::string(name.substr(end + 1))};
  if (name[end] == '/') return parsed;
  const size_t equal = parsed.path.find('=');
  if (equal == std::string::npos) return {.path = std::string(name)};
  parsed.input = parsed.path.substr(0, equal);
  parsed.path.erase(0, equal + 1);
  return parsed;
}

std::string BlobName(const SampleName& name, bool prefixed) {
  if (!name.input.empty()) return fmt::format("#{}:{}={}", name.set, name.input, name.path);
  return prefixed ? fmt::format("#{}/{}", name.set, name.path) : name.path;
}

std::string_view WithoutWord(std::string_view path) {
  for (const std::string_view word : {kLabels, kValues, kEvaluate}) {
    if (path.starts_with(word)) return path.substr(word.size());
  }
  return path;
}

std::string EvaluationName(std::string_view name) { return fmt::format("{}{}", kEvaluate, name); }

std::string FileOf(std::string_view name) {
  if (KindOf(name) == SampleKind::kEvaluation) return FileOf(WithoutWord(name));
  const std::string_view path = WithoutWord(name);
  return path == name ? ParseSampleName(name).path : std::string(path);
}

SampleKind KindOf(std::string_view path) {
  if (path.starts_with(kRandom)) return SampleKind::kRandom;
  if (path.starts_with(kLabels)) return SampleKind::kLabels;
  if (path.starts_with(kValues)) return SampleKind::kValues;
  if (path.starts_with(kEvaluate)) return SampleKind::kEvaluation;
  const std::string file = LowerCase(LastPartOf(path));
  if (file.ends_with(".npz")) return SampleKind::kNpz;
  if (file.ends_with(".npy")) return SampleKind::kNpy;
  if (file.ends_with(".pb")) return SampleKind::kProto;
  if (file.ends_with(".zip")) return SampleKind::kZip;
  for (const std::string_view extension : {".png", ".jpg", ".jpeg"}) {
    if (file.ends_with(extension)) return SampleKind::kImage;
  }
  for (const std::string_view extension : {".webp", ".gif", ".bmp", ".tif", ".tiff", ".heic",
                                           ".heif", ".avif", ".jp2", ".ppm", ".pgm"}) {
    if (file.ends_with(extension)) return SampleKind::kUnread;
  }
  return SampleKind::kOther;
}

std::string StemOf(std::string_view path) {
  const std::string_view file = LastPartOf(path);
  return std::string(file.substr(0, std::min(file.rfind('.'), file.size())));
}

std::string UnreadImages(const std::vector<std::string>& paths) {
  if (paths.size() == 1) {
    return fmt::format("image '{}' is not read: only PNG and JPEG are", paths.front());
  }
  return fmt::format("{} images, the first of them '{}', are not read: only PNG and JPEG are",
                     paths.size(), paths.front());
}

std::optional<NumberedName> ParseNumbered(std::string_view path) {
  constexpr std::string_view kFolder = "test_data_set_", kInput = "input_", kOutput = "output_";
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view folder = LastPartOf(path.substr(0, slash));
  if (folder.starts_with(kFolder)) folder.remove_prefix(kFolder.size());
  const auto sample = NumberOf(folder);
  const std::string stem = StemOf(path);
  const SampleKind kind = KindOf(path);
  const bool proto = kind == SampleKind::kProto, npz = kind == SampleKind::kNpz;
  if (!sample || (!proto && !npz && kind != SampleKind::kNpy)) return std::nullopt;
  if (stem.starts_with(kInput) && !npz) {
    const auto place = NumberOf(std::string_view(stem).substr(kInput.size()));
    if (place) return NumberedName{.sample = *sample, .place = place};
  }
  if (proto || stem.empty()) return std::nullopt;
  if (stem.starts_with(kOutput) && NumberOf(std::string_view(stem).substr(kOutput.size()))) {
    return std::nullopt;
  }
  return NumberedName{.sample = *sample, .input = stem};
}

}  // namespace octavo::data
