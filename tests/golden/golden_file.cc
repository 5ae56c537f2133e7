// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_file.h"

#include <array>
#include <cstdlib>
#include <sstream>

#include "core/job/settings.h"
#include "core/options/option_table.h"

namespace octavo::golden {
namespace {

constexpr std::string_view kMark = "--- ";

std::string Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// The list that receives the lines of the current section; null if the section has no lines.
std::vector<std::string> WordsOf(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

Result<std::string*> OpenSection(std::string_view title, int line, GoldenFile& file) {
  if (title == "before") {
    file.before.push_back({.line = line + 1});
    return &file.before.back().before;
  }
  if (title == "after") return &file.after;
  if (title == "unchanged") {
    file.unchanged = true;
    // A section with its own lines serves as `before`, too.
    if (file.before.empty()) file.before.push_back({.line = line + 1});
    return &file.before.back().before;
  }
  if (StartsWith(title, "error:")) {
    file.error = Trimmed(title.substr(6));
    return nullptr;
  }
  if (StartsWith(title, "not:")) {
    file.kept = WordsOf(title.substr(4));
    return nullptr;
  }
  if (StartsWith(title, "warns:")) {
    file.warnings = WordsOf(title.substr(6));
    return nullptr;
  }
  if (StartsWith(title, "options:")) {
    file.options = Trimmed(title.substr(8));
    return nullptr;
  }
  return Fail(Code::kInvalidArgument, "line {}: unknown section '{}'", line, title);
}

using Setter = Status (*)(std::string_view value, GoldenSettings& result);

Status SetLimit(std::string_view value, GoldenSettings& result) {
  using passes::Effect;
  for (const Effect effect :
       {Effect::kExact, Effect::kRealExact, Effect::kNewArithmetic, Effect::kFewerRoundings,
        Effect::kFewerClamps, Effect::kNewParameters}) {
    if (Name(effect) != value) continue;
    result.settings.limit = effect;
    return {};
  }
  return Fail(Code::kUsage, "unknown limit '{}'", value);
}

Status SetTarget(std::string_view value, GoldenSettings& result) {
  OCTAVO_TRY(result.settings.target, target::BuiltIn(value));
  return {};
}

Status SetProfile(std::string_view value, GoldenSettings& result) {
  const size_t last = value.rfind(':'), first = value.rfind(':', last - 1);
  if (last == std::string_view::npos || first == std::string_view::npos) {
    return Fail(Code::kUsage, "profile '{}' is not NAME:MIN:MAX", value);
  }
  profile::Entry entry;
  entry.min = std::strtof(std::string(value.substr(first + 1, last - first - 1)).c_str(), nullptr);
  entry.max = std::strtof(std::string(value.substr(last + 1)).c_str(), nullptr);
  result.profile.values.insert_or_assign(std::string(value.substr(0, first)), entry);
  result.settings.profile = &result.profile;
  return {};
}

std::vector<float> NumbersOf(std::string_view text) {
  std::vector<float> values;
  std::istringstream list{std::string(text)};
  for (std::string real; std::getline(list, real, ',');) {
    values.push_back(std::strtof(real.c_str(), nullptr));
  }
  return values;
}

// Adds a profile entry for these values, with their histogram.
Status SetSamples(std::string_view value, GoldenSettings& result) {
  const size_t colon = value.rfind(':');
  if (colon == std::string_view::npos) {
    return Fail(Code::kUsage, "samples '{}' is not NAME:VALUE,..", value);
  }
  const std::vector<float> values = NumbersOf(value.substr(colon + 1));
  profile::Histogram histogram;
  histogram.Add(values);
  result.profile.values.insert_or_assign(
      std::string(value.substr(0, colon)),
      profile::Entry{.min = histogram.min(), .max = histogram.max(), .histogram = histogram});
  result.settings.profile = &result.profile;
  return {};
}

// Adds a profile entry for a value with these channels.
Status SetChannels(std::string_view value, GoldenSettings& result) {
  const size_t name = value.find(':'), axis = value.find(':', name + 1);
  if (name == std::string_view::npos || axis == std::string_view::npos) {
    return Fail(Code::kUsage, "channels '{}' is not NAME:AXIS:MIN,MAX,MIN,MAX,..", value);
  }
  const std::vector<float> bounds = NumbersOf(value.substr(axis + 1));
  profile::ChannelRanges channels{.axis = value[name + 1] - '0'};
  profile::Entry entry;
  for (size_t i = 0; i + 1 < bounds.size(); i += 2) {
    channels.min.push_back(bounds[i]);
    channels.max.push_back(bounds[i + 1]);
    entry.min = std::min(entry.min, bounds[i]);
    entry.max = std::max(entry.max, bounds[i + 1]);
  }
  entry.channels = std::move(channels);
  result.profile.values.insert_or_assign(std::string(value.substr(0, name)), entry);
  result.settings.profile = &result.profile;
  return {};
}

struct Option {
  std::string_view key;
  Setter set;
};

// Options that exist only in goldens.
const std::array kOptions = {
    Option{"limit", &SetLimit},
    Option{"target", &SetTarget},
    Option{"profile", &SetProfile},
    Option{"samples", &SetSamples},
    Option{"channels", &SetChannels},
    Option{"column",
           [](std::string_view v, GoldenSettings& r) -> Status {
             r.columns.push_back(NumbersOf(v));
             return {};
           }},
    Option{"steps",
           [](std::string_view v, GoldenSettings& r) -> Status {
             r.steps = std::strtod(std::string(v).c_str(), nullptr);
             return {};
           }},
    Option{"lower",
           [](std::string_view v, GoldenSettings& r) -> Status {
             r.settings.target.lower.emplace_back(v);
             return {};
           }},
    Option{"keep",
           [](std::string_view v, GoldenSettings& r) -> Status {
             r.settings.target.keep.emplace_back(v);
             return {};
           }},
    Option{"fully-quantized",
           [](std::string_view, GoldenSettings& r) -> Status {
             r.settings.target.fully_quantized = true;
             return {};
           }},
};

}  // namespace

std::string GoldenFile::WithAfter(std::string_view text) const {
  std::string whole = head;
  if (!kept.empty()) whole += fmt::format("--- not: {}\n", fmt::join(kept, " "));
  if (!warnings.empty()) whole += fmt::format("--- warns: {}\n", fmt::join(warnings, " "));
  if (!options.empty()) whole += fmt::format("--- options: {}\n", options);
  for (const Case& one : before) whole += fmt::format("--- before\n{}", one.before);
  return whole + fmt::format("--- after\n{}", text);
}

Result<GoldenFile> ParseGolden(std::string_view text) {
  GoldenFile file;
  std::string* section = &file.head;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (StartsWith(line, kMark)) {
      OCTAVO_TRY(section, OpenSection(Trimmed(line.substr(kMark.size())), number, file));
    } else if (section != nullptr) {
      *section += line + "\n";
    } else if (!Trimmed(line).empty()) {
      return Fail(Code::kInvalidArgument, "line {}: this section has no lines", number);
    }
  }
  if (file.before.empty()) return Fail(Code::kInvalidArgument, "the file has no graph");
  if (int{file.unchanged} + int{!file.after.empty()} + int{!file.error.empty()} > 1) {
    return Fail(Code::kInvalidArgument, "a file has one of after, unchanged and error");
  }
  return file;
}

Status ReadOptions(std::string_view line, GoldenSettings& result) {
  std::istringstream words{std::string(line)};
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto option = std::find_if(kOptions.begin(), kOptions.end(),
                                     [&](const Option& row) { return row.key == key; });
    if (option != kOptions.end()) {
      OCTAVO_CHECK(option->set(value, result));
      continue;
    }
    std::string name = key;
    std::replace(name.begin(), name.end(), '-', '_');
    const OptionRow* row = FindOption(name);
    if (row == nullptr) return Fail(Code::kUsage, "unknown option '{}'", key);
    OCTAVO_CHECK(SetOptionText(*row, result.settings.options, value));
  }
  passes::Settings& settings = result.settings;
  settings.options.integer_io |= settings.target.integer_io;
  return job::ApplyToTarget(settings.options, settings.target);
}

}  // namespace octavo::golden
