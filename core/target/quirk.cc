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

// The description of a built-in target; empty for an unknown name.
std::string_view TextOf(std::string_view name) {
  for (const BuiltInText& text : BuiltInTexts()) {
    if (text.name == name) return text.json;
  }
  return {};
}

}  // namespace

std::string_view Name(QuirkCondition condition) { return NameIn(kConditions, condition); }
std::string_view Name(QuirkRemedy remedy) { return NameIn(kRemedies, remedy); }

Result<TargetQuirks> ReadQuirks(const json& description) {
  TargetQuirks result;
  if (const auto base = description.find("base"); base != description.end() && base->is_string()) {
    OCTAVO_TRY(result, BuiltInQuirks(base->get<std::string>()));
  }
  if (const auto list = description.find("quirks"); list != description.end()) {
    OCTAVO_CHECK(ReadRows(*list, result.avoided));
  }
  if (const auto warn_for = description.find("warn_for"); warn_for != description.end()) {
    constexpr std::string_view must = "a built-in target's name, or empty";
    if (!warn_for->is_string()) return Wrong("warn_for", must);
    result.warn_for = warn_for->get<std::string>();
    if (!result.warn_for.empty() && TextOf(result.warn_for).empty()) return Wrong("warn_for", must);
  }
  return result;
}

Result<TargetQuirks> BuiltInQuirks(std::string_view name) { return ParseQuirks(TextOf(name)); }

Result<TargetQuirks> ParseQuirks(std::string_view json_text) {
  const json description = json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!description.is_object()) return Fail(Code::kUsage, "target file: not a JSON object");
  return ReadQuirks(description);
}

}  // namespace octavo::target
