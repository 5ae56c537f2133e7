// SPDX-License-Identifier: Apache-2.0
// Glow's profile: three YAML documents, which are the tools' version, a hash of the graph, and a
// list of ranges by the name of a node's output.  The parser is event-based, so histograms take no
// memory.
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "core/profile/formats/formats.h"

namespace octavo::profile {
namespace {

constexpr size_t kMaxHistogram = size_t{1} << 20;

[[noreturn]] void Wrong(const YAML::Mark& mark, const std::string& what) {
  throw YAML::ParserException(mark, what);
}

float NumberOf(const YAML::Mark& mark, const std::string& key, std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    Wrong(mark, fmt::format("'{}' must be a finite number", key));
  }
  return value;
}

class Reader : public YAML::EventHandler {
 public:
  Profile profile = {};
  int documents = 0;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents > 3) Wrong(mark, "unexpected fourth document");
    level_ = 0;
    key_.clear();
  }
  void OnDocumentEnd() override {}

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (level_ != (documents == 3 ? 1 : 0)) Wrong(mark, "unexpected map");
    entered_ = mark;
    seen_.clear();
    ++level_;
  }

  void OnMapEnd() override {
    --level_;
    const std::vector<std::string_view> keys = Keys();
    for (const std::string_view key : keys) {
      if (!seen_.contains(key)) Wrong(entered_, fmt::format("'{}' is missing", key));
    }
    if (documents < 3) return;
    const auto added =
        AddRange(fmt::format("line {}", entered_.line + 1), name_, min_, max_, profile);
    if (!added) failure = added.error();
    if (failure) throw YAML::ParserException(entered_, failure->message);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    const bool list = documents == 3 && level_ == 0;
    const bool histogram = documents == 3 && level_ == 2 && key_ == "Histogram";
    if (!list && !histogram) Wrong(mark, "unexpected list");
    bins_ = 0;
    ++level_;
  }

  void OnSequenceEnd() override {
    --level_;
    key_.clear();
  }

  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& text) override {
    if (level_ == 3) {
      NumberOf(mark, "Histogram", text);
      if (++bins_ > kMaxHistogram) Wrong(mark, "too many bins");
    } else if (level_ != (documents == 3 ? 2 : 1)) {
      Wrong(mark, "unexpected scalar");
    } else if (key_.empty()) {
      TakeKey(mark, text);
    } else {
      TakeValue(mark, text);
      key_.clear();
    }
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    OnScalar(mark, "", anchor, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Wrong(mark, "an alias"); }

  std::optional<Error> failure = {};

 private:
  int level_ = 0;
  YAML::Mark entered_ = {};
  std::string key_ = {}, name_ = {};
  std::set<std::string, std::less<>> seen_ = {};
  float min_ = 0, max_ = 0;
  size_t bins_ = 0;

  std::vector<std::string_view> Keys() const {
    if (documents == 1) return {"GlowToolsVersion"};
    if (documents == 2) return {"GraphPreLowerHash"};
    return {"NodeOutputName", "Min", "Max", "Histogram"};
  }

  void TakeKey(const YAML::Mark& mark, const std::string& key) {
    const std::vector<std::string_view> keys = Keys();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      Wrong(mark, fmt::format("'{}' is not a key of document {}", key, documents));
    }
    if (!seen_.insert(key).second) Wrong(mark, fmt::format("'{}' is listed twice", key));
    key_ = key;
  }

  void TakeValue(const YAML::Mark& mark, const std::string& text) {
    if (key_ == "Histogram") Wrong(mark, "'Histogram' must be a list");
    if (key_ == "NodeOutputName") name_ = text;
    if (key_ == "Min") min_ = NumberOf(mark, key_, text);
    if (key_ == "Max") max_ = NumberOf(mark, key_, text);
  }
};

}  // namespace

bool LooksLikeGlow(std::string_view text) {
  if (text.starts_with("---")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \r\n"), text.size()));
  return text.starts_with("GlowToolsVersion");
}

Result<Profile> ReadGlow(std::string_view text) {
  Reader reader;
  const auto wrong = [](int line, std::string_view what) {
    return Fail(Code::kInvalidArgument, "profile: line {}: {}", line, what)
        .Field(fmt::format("line {}", line))
        .Reason("INVALID_PROFILE");
  };
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(reader)) {
    }
  } catch (const YAML::Exception& error) {
    if (reader.failure) return Forward(std::move(*reader.failure));
    return wrong(error.mark.line + 1, error.msg);
  }
  if (reader.documents != 3) {
    return Fail(Code::kInvalidArgument, "profile: Glow's YAML has 3 documents, this has {}",
                reader.documents)
        .Reason("INVALID_PROFILE");
  }
  reader.profile.glow_names = true;
  return std::move(reader.profile);
}

}  // namespace octavo::profile
