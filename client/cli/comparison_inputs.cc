// SPDX-License-Identifier: Apache-2.0
#include "client/cli/comparison_inputs.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/data/sample_name.h"
#include "core/job/gates.h"
#include "core/job/sample_sets.h"
#include "core/options/option_table.h"

namespace octavo::cli {
namespace {

using google::protobuf::Value;
using nlohmann::ordered_json;

// The options that decide how files become samples.
constexpr std::string_view kSampleOptions[] = {"image", "cast", "samples", "shape", "batch"};
constexpr double kLargestInteger = 9007199254740992;  // 2^53, above which doubles skip integers

// ParseReport bounds the depth.
ordered_json JsonOf(const Value& value) {
  ordered_json json;
  switch (value.kind_case()) {
    case Value::kNumberValue: {
      const double number = value.number_value();
      const bool whole = std::trunc(number) == number && std::abs(number) < kLargestInteger;
      return whole ? ordered_json(static_cast<int64_t>(number)) : ordered_json(number);
    }
    case Value::kStringValue:
      return value.string_value();
    case Value::kBoolValue:
      return value.bool_value();
    case Value::kListValue:
      json = ordered_json::array();
      for (const Value& item : value.list_value().values()) json.push_back(JsonOf(item));
      return json;
    case Value::kStructValue: {
      json = ordered_json::object();
      const auto& fields = value.struct_value().fields();
      const std::map<std::string, Value> sorted(fields.begin(), fields.end());
      for (const auto& [key, item] : sorted) json[key] = JsonOf(item);
      return json;
    }
    case Value::kNullValue:
    case Value::KIND_NOT_SET:
      return nullptr;
  }
  return nullptr;
}

// Null for an option that the report lacks.
ordered_json OptionOf(const v1::Report& report, const std::string& name) {
  const auto at = report.options().fields().find(name);
  return at == report.options().fields().end() ? ordered_json() : JsonOf(at->second);
}

// Equal for files of the same bytes; random samples have none.
std::string IdentityOf(const v1::ReportFile& file) {
  const bool random = file.role() == "samples" && job::IsRandom(file.name());
  return random || file.sha256().empty() ? "name:" + file.name() : "sha256:" + file.sha256();
}

using Identities = std::multiset<std::string>;

template <class Counts>
Identities IdentitiesOf(const v1::Report& report, Counts counts) {
  Identities identities;
  for (const v1::ReportFile& file : report.inputs()) {
    if (counts(file)) identities.insert(IdentityOf(file));
  }
  return identities;
}

// The files that the report's figures are of: those of --evaluate if there are any; the profile,
// which synthetic samples are drawn from.
Identities FiguresFrom(const v1::Report& report) {
  if (report.numerics().samples_role() == "synthetic") {
    return IdentitiesOf(report, [](const auto& file) { return file.role() == "profile"; });
  }
  const auto is_samples = [](const v1::ReportFile& file, bool apart) {
    const data::SampleKind kind = data::KindOf(file.name());
    return file.role() == "samples" && kind != data::SampleKind::kLabels &&
           (kind == data::SampleKind::kEvaluation) == apart;
  };
  Identities apart = IdentitiesOf(report, [&](const auto& file) { return is_samples(file, true); });
  if (!apart.empty()) return apart;
  return IdentitiesOf(report, [&](const auto& file) { return is_samples(file, false); });
}

bool ListInputs(const v1::Report& before, const v1::Report& after) {
  return before.inputs_size() > 0 && after.inputs_size() > 0;
}

// A job has one model, one profile and one target, whatever their names.
std::string SlotOf(const v1::ReportFile& file) {
  const bool several = file.role() == "samples" || file.role() == "external";
  return several ? file.role() + '\n' + file.name() : file.role();
}

}  // namespace

std::optional<bool> SameModel(const v1::Report& before, const v1::Report& after) {
  if (!ListInputs(before, after)) return std::nullopt;
  const auto is_model = [](const v1::ReportFile& file) {
    return file.role() == "model" || file.role() == "external";
  };
  return IdentitiesOf(before, is_model) == IdentitiesOf(after, is_model);
}

std::optional<bool> SameSamples(const v1::Report& before, const v1::Report& after) {
  const v1::Numerics &a = before.numerics(), &b = after.numerics();
  if (a.samples() == 0 || b.samples() == 0) return std::nullopt;
  if (a.samples() != b.samples() || a.samples_role() != b.samples_role() ||
      a.samples_source() != b.samples_source()) {
    return false;
  }
  if (!ListInputs(before, after)) return std::nullopt;
  const auto same_option = [&](std::string_view name) {
    return OptionOf(before, std::string(name)) == OptionOf(after, std::string(name));
  };
  if (!std::ranges::all_of(kSampleOptions, same_option)) return false;
  if (a.samples_role() == job::Name(job::SamplesRole::kHeldOut) && !same_option("holdout"))
    return false;
  return FiguresFrom(before) == FiguresFrom(after);
}

std::vector<OptionChange> CompareOptions(const v1::Report& before, const v1::Report& after) {
  std::set<std::string> names;
  for (const v1::Report* report : {&before, &after}) {
    for (const auto& [name, value] : report->options().fields()) names.insert(name);
  }
  std::vector<OptionChange> changes;
  for (const std::string& name : names) {
    const OptionRow* row = FindOption(name);
    if (row != nullptr && row->flag == OptionFlag::kNone) continue;
    OptionChange change{
        .name = name, .before = OptionOf(before, name), .after = OptionOf(after, name)};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<InputChange> CompareInputs(const v1::Report& before, const v1::Report& after) {
  // A report without inputs does not tell what they were.
  if (!ListInputs(before, after)) return {};
  std::multiset<std::string> kept;
  for (const v1::ReportFile& file : after.inputs()) kept.insert(file.role() + IdentityOf(file));
  std::vector<InputChange> changes;
  std::map<std::string, size_t> slots;
  std::multiset<std::string> matched;
  for (const v1::ReportFile& file : before.inputs()) {
    const std::string identity = file.role() + IdentityOf(file);
    if (const auto at = kept.find(identity); at != kept.end()) {
      kept.erase(at);
      matched.insert(identity);
      continue;
    }
    slots[SlotOf(file)] = changes.size();
    changes.push_back({.role = file.role(), .before = file});
  }
  for (const v1::ReportFile& file : after.inputs()) {
    if (const auto at = matched.find(file.role() + IdentityOf(file)); at != matched.end()) {
      matched.erase(at);
      continue;
    }
    const auto slot = slots.find(SlotOf(file));
    if (slot != slots.end() && !changes[slot->second].after) {
      changes[slot->second].after = file;
    } else {
      changes.push_back({.role = file.role(), .after = file});
    }
  }
  return changes;
}

}  // namespace octavo::cli
