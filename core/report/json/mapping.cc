// SPDX-License-Identifier: Apache-2.0
#include "core/report/json/mapping.h"

#include <string>
#include <string_view>
#include <unordered_map>

#include "octavo/v1/report.pb.h"

namespace octavo::report {
namespace {

using google::protobuf::FieldDescriptor;

struct EmptyRow {
  std::string_view field = {};
  WhenEmpty when_empty = WhenEmpty::kValue;
};
constexpr EmptyRow kEmptyRows[] = {
    // Sections that only `octavo diff --against` and `--by-rule` write.
    {"octavo.v1.Report.against", WhenEmpty::kOmitted},
    {"octavo.v1.Report.by_rule", WhenEmpty::kOmitted},
    // A deterministic report omits times.
    {"octavo.v1.PassRun.seconds", WhenEmpty::kOmitted},
    // Only with --each: an entry is then one application and has no count.
    {"octavo.v1.RuleRun.applications", WhenEmpty::kOmitted},
    {"octavo.v1.LedgerEntry.count", WhenEmpty::kOmitted},
    // Null if no sample ran.
    {"octavo.v1.Numerics.samples_source", WhenEmpty::kNull},
    {"octavo.v1.Numerics.samples_role", WhenEmpty::kNull},
};

struct ListRow {
  std::string_view list = {};
  std::string_view scalar = {};
};
constexpr ListRow kListRows[] = {
    // Per-channel quantization parameters.
    {"octavo.v1.ValueNumerics.scales", "octavo.v1.ValueNumerics.scale"},
    {"octavo.v1.ValueNumerics.zero_points", "octavo.v1.ValueNumerics.zero_point"},
};

// Rows by descriptor: a field costs one look-up instead of comparisons of names.
struct Mapping {
  std::unordered_map<const FieldDescriptor*, WhenEmpty> when_empty = {};
  std::unordered_map<const FieldDescriptor*, const FieldDescriptor*> list_of = {};
  std::unordered_map<const FieldDescriptor*, const FieldDescriptor*> scalar_of = {};

  Mapping() {
    for (const EmptyRow& row : kEmptyRows) when_empty[Find(row.field)] = row.when_empty;
    for (const ListRow& row : kListRows) {
      list_of[Find(row.scalar)] = Find(row.list);
      scalar_of[Find(row.list)] = Find(row.scalar);
    }
  }

  static const FieldDescriptor* Find(std::string_view name) {
    return v1::Report::descriptor()->file()->pool()->FindFieldByName(std::string(name));
  }
};

const Mapping& TheMapping() {
  static const Mapping mapping;
  return mapping;
}

}  // namespace

WhenEmpty WhenEmptyOf(const FieldDescriptor& field) {
  const auto at = TheMapping().when_empty.find(&field);
  return at == TheMapping().when_empty.end() ? WhenEmpty::kValue : at->second;
}

const FieldDescriptor* ListOf(const FieldDescriptor& field) {
  const auto at = TheMapping().list_of.find(&field);
  return at == TheMapping().list_of.end() ? nullptr : at->second;
}

bool IsListOfScalar(const FieldDescriptor& field) {
  return TheMapping().scalar_of.contains(&field);
}

}  // namespace octavo::report
