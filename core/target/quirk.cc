// SPDX-License-Identifier: Apache-2.0
#include "core/target/quirk.h"

#include <cmath>

#include "core/target/builtin.h"
#include "core/target/quirk_reader.h"

namespace octavo::target {
namespace {

constexpr Word<QuirkCondition> kConditions[] = {
    {QuirkCondition::kAlways, "always"},
    {QuirkCondition::kOpsetBelow, "opset-below"},
    {QuirkCondition::kFineResultScale, "fine-result-scale"},
    {QuirkCondition::kInexactReciprocal, "inexact-reciprocal"},
    {QuirkCondition::kDilated, "dilated"},
    {QuirkCondition::kCeilCountsPadding, "ceil-counts-padding"},
    {QuirkCondition::kCeilCountsWindow, "ceil-counts-window"},
    {QuirkCondition::kBiasOfAnotherScale, "bias-of-another-scale"},
    {QuirkCondition::kFloatParameters, "float-parameters"},
    {QuirkCondition::kDequantizedWeights, "dequantized-weights"},
    {QuirkCondition::kEqualDTypes, "equal-dtypes"},
    {QuirkCondition::kPerChannelActivation, "per-channel-activation"},
    {QuirkCondition::kComputedOperand, "computed-operand"},
    {QuirkCondition::kNegativeOperand, "negative-operand"},
    {QuirkCondition::kZeroDivisor, "zero-divisor"},
    {QuirkCondition::kOddZeroPoint, "odd-zero-point"},
    {QuirkCondition::kDifferenceOfSums, "difference-of-sums"},
};
constexpr Word<QuirkRemedy> kRemedies[] = {
    {QuirkRemedy::kRaiseOpset, "raise-opset"},
    {QuirkRemedy::kUnfuse, "unfuse"},
    {QuirkRemedy::kBiasPerChannel, "bias-per-channel"},
    {QuirkRemedy::kReplaceNan, "replace-nan"},
    {QuirkRemedy::kExplicitPads, "explicit-pads"},
    {QuirkRemedy::kSumInDouble, "sum-in-double"},
    {QuirkRemedy::kSessionOption, "session-option"},
};

template <class Table>
std::string NamesOf(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& word : table) names.push_back(word.name);
  return fmt::format("one of {}", fmt::join(names, ", "));
}

template <class Enum, class Table>
Status ReadWord(Reader& reader, const std::string& prefix, std::string_view key, const Table& table,
                Enum& value) {
  std::string name(NameIn(table, value));
  const std::string must = NamesOf(table);
  OCTAVO_CHECK(reader.Read(key, name, must));
  const std::optional<Enum> found = FindIn<Enum>(table, name);
  if (!found) return Wrong(prefix + std::string(key), must);
  value = *found;
  return {};
}

// Far above any that exists, so that a typing error is one.
constexpr int kLargestOpset = 1000;
// A graph is examined once for each row and op name.
constexpr size_t kMaxRows = 256, kMaxOps = 256;

bool LimitsOpset(const Quirk& quirk) {
  return quirk.when == QuirkCondition::kOpsetBelow || quirk.instead == QuirkRemedy::kRaiseOpset;
}

bool NeedsLimit(const Quirk& quirk) {
  return LimitsOpset(quirk) || quirk.when == QuirkCondition::kFineResultScale ||
         quirk.when == QuirkCondition::kInexactReciprocal;
}

// Remedies that are made for one condition.
constexpr std::pair<QuirkRemedy, QuirkCondition> kPairs[] = {
    {QuirkRemedy::kBiasPerChannel, QuirkCondition::kBiasOfAnotherScale},
    {QuirkRemedy::kExplicitPads, QuirkCondition::kCeilCountsWindow},
    {QuirkRemedy::kSumInDouble, QuirkCondition::kDifferenceOfSums},
};

Status CheckPair(const Quirk& quirk, const std::string& prefix) {
  for (const auto& [remedy, condition] : kPairs) {
    if (quirk.instead != remedy || quirk.when == condition) continue;
    return Wrong(prefix + "when",
                 fmt::format("{} where 'instead' is {}", Name(condition), Name(remedy)));
  }
  return {};
}

Status ReadQuirk(const json& object, Quirk& quirk) {
  if (!object.is_object()) return Wrong("quirks", "a list of objects");
  const json* id = object.contains("id") ? &object["id"] : nullptr;
  if (id == nullptr || !id->is_string() || id->get<std::string>().empty()) {
    return Wrong("quirks.id", "a string");
  }
  quirk.id = id->get<std::string>();
  const std::string prefix = fmt::format("quirks.{}.", quirk.id);
  Reader reader(object, prefix);
  OCTAVO_CHECK(reader.Read("id", quirk.id, "a string"));
  OCTAVO_CHECK(reader.Read("ops", quirk.ops, "a list of op names"));
  OCTAVO_CHECK(ReadWord(reader, prefix, "when", kConditions, quirk.when));
  OCTAVO_CHECK(reader.Read("limit", quirk.limit, "a number"));
  OCTAVO_CHECK(ReadWord(reader, prefix, "instead", kRemedies, quirk.instead));
  OCTAVO_CHECK(reader.Read("does", quirk.does, "a string"));
  OCTAVO_CHECK(reader.Read("source", quirk.source, "a string"));
  OCTAVO_CHECK(reader.Read("code", quirk.code, "a string"));
  OCTAVO_CHECK(reader.Read("warns", quirk.warns, "true or false"));
  OCTAVO_CHECK(reader.RefuseUnknown());
  if (quirk.ops.empty() || quirk.ops.size() > kMaxOps) {
    return Wrong(prefix + "ops", fmt::format("a list of 1 to {} op names", kMaxOps));
  }
  if (quirk.does.empty()) return Wrong(prefix + "does", "given");
  if (NeedsLimit(quirk) != (quirk.limit > 0)) {
    return Wrong(prefix + "limit", NeedsLimit(quirk) ? "a positive number" : "left out");
  }
  if (LimitsOpset(quirk) &&
      (quirk.limit > kLargestOpset || quirk.limit != std::floor(quirk.limit))) {
    return Wrong(prefix + "limit", fmt::format("an opset, 1 to {}", kLargestOpset));
  }
  return CheckPair(quirk, prefix);
}

Status ReadRows(const json& list, std::vector<Quirk>& quirks) {
  if (!list.is_array() || list.size() > kMaxRows) {
    return Wrong("quirks", fmt::format("a list of at most {} objects", kMaxRows));
  }
  quirks.clear();
  std::set<std::string> ids;
  for (const json& item : list) {
    OCTAVO_CHECK(ReadQuirk(item, quirks.emplace_back()));
    if (!ids.insert(quirks.back().id).second) {
      return Wrong(fmt::format("quirks.{}", quirks.back().id), "given once");
    }
  }
  return {};
}

Status ReadIds(const json& list, std::vector<std::string>& ids) {
  constexpr std::string_view must = "a list of ids of quirks";
  if (!list.is_array()) return Wrong("avoid", must);
  ids.clear();
  for (const json& item : list) {
    if (!item.is_string()) return Wrong("avoid", must);
    ids.push_back(item.get<std::string>());
  }
  return {};
}

// The description of a built-in target; empty for an unknown name.
std::string_view TextOf(std::string_view name) {
  for (const BuiltInText& text : BuiltInTexts()) {
    if (text.name == name) return text.json;
  }
  return {};
}

json ParsedText(std::string_view text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The keys of a description and of its bases: `avoid` is not looked up yet, because a runtime's
// description may be based on one that warns for it.
struct Keys {
  std::vector<Quirk> rows = {};
  std::vector<std::string> avoid = {};
  std::string warn_for = {};
};

Result<Keys> ReadKeys(const json& description) {
  Keys keys;
  if (const auto base = description.find("base"); base != description.end() && base->is_string()) {
    const json below = ParsedText(TextOf(base->get<std::string>()));
    if (!below.is_object()) return Wrong("base", "a built-in target's name");
    OCTAVO_TRY(keys, ReadKeys(below));
  }
  if (const auto list = description.find("quirks"); list != description.end()) {
    OCTAVO_CHECK(ReadRows(*list, keys.rows));
    keys.avoid.clear();
  }
  if (const auto warn_for = description.find("warn_for"); warn_for != description.end()) {
    constexpr std::string_view must = "a built-in target's name, or empty";
    if (!warn_for->is_string()) return Wrong("warn_for", must);
    keys.warn_for = warn_for->get<std::string>();
    if (!keys.warn_for.empty() && TextOf(keys.warn_for).empty()) return Wrong("warn_for", must);
    keys.avoid.clear();
  }
  if (const auto avoid = description.find("avoid"); avoid != description.end()) {
    OCTAVO_CHECK(ReadIds(*avoid, keys.avoid));
    if (!keys.rows.empty()) return Wrong("avoid", "left out where 'quirks' has rows");
  }
  return keys;
}

}  // namespace

std::string_view Name(QuirkCondition condition) { return NameIn(kConditions, condition); }
std::string_view Name(QuirkRemedy remedy) { return NameIn(kRemedies, remedy); }

Result<TargetQuirks> ReadQuirks(const json& description) {
  OCTAVO_TRY(Keys keys, ReadKeys(description));
  TargetQuirks result{.avoided = std::move(keys.rows), .warn_for = keys.warn_for};
  if (keys.avoid.empty()) return result;
  OCTAVO_TRY(const Keys runtime, ReadKeys(ParsedText(TextOf(keys.warn_for))));
  for (const std::string& id : keys.avoid) {
    const auto row = std::ranges::find(runtime.rows, id, &Quirk::id);
    if (row == runtime.rows.end()) return Wrong("avoid", "a list of ids of quirks of 'warn_for'");
    result.avoided.push_back(*row);
  }
  return result;
}

Result<TargetQuirks> BuiltInQuirks(std::string_view name) { return ParseQuirks(TextOf(name)); }

Result<TargetQuirks> ParseQuirks(std::string_view json_text) {
  const json description = ParsedText(json_text);
  if (!description.is_object()) return Fail(Code::kUsage, "target file: not a JSON object");
  return ReadQuirks(description);
}

}  // namespace octavo::target
