// SPDX-License-Identifier: Apache-2.0
#include "client/cli/comparison_json.h"

#include <cmath>
#include <optional>
#include <string>

#include "core/report/json/print.h"

namespace octavo::cli {
namespace {

using nlohmann::ordered_json;

// JSON has no infinite numbers.
ordered_json NumberJson(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return nullptr;
  return *number;
}

ordered_json NumberJson(const Measure& measure, const std::optional<double>& number) {
  ordered_json json = NumberJson(number);
  constexpr double kLargest = 9007199254740992;  // 2^53
  const bool whole = measure.count && number && std::abs(*number) <= kLargest;
  return whole ? ordered_json(std::llround(*number)) : json;
}

bool IsExact(const std::optional<double>& sqnr) { return sqnr && std::isinf(*sqnr); }

template <class T>
ordered_json OrNull(const std::optional<T>& value) {
  if (!value) return nullptr;
  return *value;
}

ordered_json SideJson(const ReportSide& side) {
  ordered_json worst;
  if (side.worst_output) {
    worst = {{"name", side.worst_output->name},
             {"sqnr_db", NumberJson(side.worst_output->sqnr_db)},
             {"exact", IsExact(side.worst_output->sqnr_db)}};
  }
  return {{"file", side.file},
          {"octavo_version", side.octavo_version},
          {"action_digest", side.action_digest},
          {"samples", side.samples},
          {"samples_role", side.samples_role},
          {"samples_source", side.samples_source},
          {"worst_output", worst}};
}

ordered_json FigureJson(const Figure& figure) {
  const Measure& measure = *figure.measure;
  return {{"before", NumberJson(measure, figure.before)},
          {"after", NumberJson(measure, figure.after)},
          {"change", NumberJson(measure, figure.Change() / measure.factor)}};
}

ordered_json ValueJson(const ValueChange& value) {
  const auto side = [](bool is_in, ordered_json json) { return is_in ? json : ordered_json(); };
  ordered_json json = {{"name", value.name},
                       {"dtype",
                        {{"before", side(value.in_before, value.dtype_before)},
                         {"after", side(value.in_after, value.dtype_after)}}}};
  for (const Figure& figure : value.figures) {
    json[std::string(figure.measure->key)] = FigureJson(figure);
    if (figure.measure->key != "sqnr_db") continue;
    json["exact"] = {{"before", side(value.in_before, IsExact(figure.before))},
                     {"after", side(value.in_after, IsExact(figure.after))}};
  }
  return json;
}

template <class Items, class ToJson>
ordered_json ListJson(const Items& items, ToJson to_json) {
  ordered_json list = ordered_json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

ordered_json OptionJson(const OptionChange& option) {
  return {{"name", option.name}, {"before", option.before}, {"after", option.after}};
}

ordered_json InputJson(const InputChange& input) {
  const auto side = [](const std::optional<v1::ReportFile>& file) {
    return file ? report::ToJson(*file) : ordered_json();
  };
  return {{"role", input.role}, {"before", side(input.before)}, {"after", side(input.after)}};
}

ordered_json WarningJson(const v1::Warning& warning) { return report::ToJson(warning); }

}  // namespace

ordered_json ComparisonJson(const Comparison& comparison) {
  ordered_json model = ordered_json::object();
  for (const Figure& figure : comparison.model) {
    model[std::string(figure.measure->key)] = FigureJson(figure);
  }
  return {{"before", SideJson(comparison.before)},
          {"after", SideJson(comparison.after)},
          {"same_model", OrNull(comparison.same_model)},
          {"same_samples", OrNull(comparison.same_samples)},
          {"outputs", ListJson(comparison.outputs, &ValueJson)},
          {"model", model},
          {"options", ListJson(comparison.options, &OptionJson)},
          {"inputs", ListJson(comparison.inputs, &InputJson)},
          {"new_warnings", ListJson(comparison.new_warnings, &WarningJson)},
          {"gone_warnings", ListJson(comparison.gone_warnings, &WarningJson)},
          {"values", ListJson(comparison.values, &ValueJson)},
          {"values_only_before", comparison.values_only_before},
          {"values_only_after", comparison.values_only_after}};
}

}  // namespace octavo::cli
