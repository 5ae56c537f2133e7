// SPDX-License-Identifier: Apache-2.0
// Options as JSON, and printing of the option table.
#include "core/options/option_table.h"

namespace octavo {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json JsonOf(const OptionValue& value) {
  return std::visit([](const auto& held) { return ordered_json(held); }, value);
}

Result<OptionValue> FromJson(const OptionRow& row, const json& value) {
  try {
    switch (row.type) {
      case OptionType::kFlag:
        return OptionValue(value.get<bool>());
      case OptionType::kInteger:
        if (value.is_number_integer()) return OptionValue(value.get<int64_t>());
        break;
      case OptionType::kReal:
        if (value.is_number()) return OptionValue(value.get<double>());
        break;
      case OptionType::kText:
      case OptionType::kChoice:
        return OptionValue(value.get<std::string>());
      case OptionType::kNames:
        return OptionValue(value.get<std::vector<std::string>>());
      case OptionType::kShapes:
        return OptionValue(value.get<ShapeMap>());
    }
  } catch (const json::exception&) {
    // The error below names the option.
  }
  return WrongOption(row, value.dump(), fmt::format("a {}", Name(row.type)));
}

}  // namespace

std::string_view Name(OptionType type) {
  switch (type) {
    case OptionType::kFlag:
      return "flag";
    case OptionType::kInteger:
      return "whole number";
    case OptionType::kReal:
      return "number";
    case OptionType::kText:
      return "text";
    case OptionType::kChoice:
      return "choice";
    case OptionType::kNames:
      return "list of names";
    case OptionType::kShapes:
      return "map from input names to shapes";
  }
  return "";
}

std::string_view Name(OptionGroup group) {
  switch (group) {
    case OptionGroup::kQuantization:
      return "Quantization";
    case OptionGroup::kRewriting:
      return "Rewriting";
    case OptionGroup::kModel:
      return "Inputs of the model";
    case OptionGroup::kResult:
      return "Result";
    case OptionGroup::kChecks:
      return "Checks";
    case OptionGroup::kRun:
      return "Execution";
  }
  return "";
}

std::string DefaultText(const OptionRow& row) {
  if (!row.otherwise.empty()) return std::string(row.otherwise);
  const Options defaults;
  if (!IsSet(row, defaults)) return row.type == OptionType::kFlag ? "off" : "none";
  const ordered_json value = JsonOf(row.get(defaults));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

ordered_json OptionsJson(const Options& options) {
  const Options defaults;
  ordered_json object = ordered_json::object();
  for (const OptionRow& row : OptionTable()) {
    if (!row.changes_result) continue;
    const OptionValue value = row.get(options);
    // Skips a text that was cleared: no byte of this result depends on it.
    if (row.type == OptionType::kText && !IsSet(row, options) && IsSet(row, defaults)) continue;
    object[std::string(row.name)] = JsonOf(value);
  }
  return object;
}

ordered_json ActionOptionsJson(const Options& options) {
  ordered_json object = ordered_json::object();
  for (const OptionRow& row : OptionTable()) {
    if (!row.changes_result && !row.adds_results) continue;
    object[std::string(row.name)] = JsonOf(row.get(options));
  }
  return object;
}

Result<Options> OptionsFromJson(const json& object) {
  Options options;
  const ordered_json defaults = OptionsJson(options);
  for (const OptionRow& row : OptionTable()) {
    const auto at = object.find(row.name);
    if (at == object.end()) continue;
    // A default may be a value for "unset" (opset 0) that no argument may have.
    if (defaults.contains(row.name) && *at == json(defaults[std::string(row.name)])) continue;
    OCTAVO_TRY(const OptionValue value, FromJson(row, *at));
    OCTAVO_CHECK(SetOption(row, options, value));
  }
  return options;
}

}  // namespace octavo
