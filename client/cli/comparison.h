// SPDX-License-Identifier: Apache-2.0
// What differs between two reports, the one before a change and the one after it.  Lists begin with
// the largest difference.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/v1/report.pb.h"

namespace octavo::cli {

struct Measure {
  std::string_view key = {};  // in JSON
  std::string_view heading = {};
  int decimals = 0;
  double factor = 1;   // from the report's unit to the heading's
  bool count = false;  // a whole number in JSON
  std::string_view undefined = "-";
};

// A figure of both reports.  Unset: undefined, or the report lacks the value.  Infinite: the SQNR
// of an exact output.
struct Figure {
  const Measure* measure = nullptr;
  std::optional<double> before = {};
  std::optional<double> after = {};

  // In the unit of the heading.  Undefined figures count as less than all others, so that the
  // change from or to one is infinite.
  double Change() const;
  // Whether the change shows in the measure's decimals.
  bool Differs() const;
};

// An output or another value.
struct ValueChange {
  std::string name = {};
  bool in_before = false;
  bool in_after = false;
  std::string dtype_before = {};
  std::string dtype_after = {};
  std::vector<Figure> figures = {};  // the same measures in each value of a list

  bool Differs() const;
  bool HasOtherType() const;  // in the two reports
};

// Null in a report that lacks the option.
struct OptionChange {
  std::string name = {};
  nlohmann::ordered_json before = {};
  nlohmann::ordered_json after = {};
};

// An input with other bytes, or of one report only.
struct InputChange {
  std::string role = {};
  std::optional<v1::ReportFile> before = {};
  std::optional<v1::ReportFile> after = {};
};

struct WorstFigure {
  std::string name = {};
  std::optional<double> sqnr_db = {};
};

// What a report says of itself.
struct ReportSide {
  std::string file = {};
  std::string octavo_version = {};
  std::string action_digest = {};
  bool lists_inputs = false;
  int64_t samples = 0;
  std::string samples_role = {};
  std::string samples_source = {};
  std::optional<WorstFigure> worst_output = {};  // the one with the lowest SQNR
};

struct Comparison {
  ReportSide before = {};
  ReportSide after = {};
  // Unset: a report does not tell.  Figures compare only if both hold.
  std::optional<bool> same_model = {};
  std::optional<bool> same_samples = {};
  std::vector<ValueChange> outputs = {};  // all; the first figure is the SQNR
  std::vector<Figure> model = {};         // of the result as a whole; all
  std::vector<OptionChange> options = {};
  std::vector<InputChange> inputs = {};
  std::vector<v1::Warning> new_warnings = {};
  std::vector<v1::Warning> gone_warnings = {};
  // Those of both reports that changed by kLeastValueChange or more, or in their type.
  std::vector<ValueChange> values = {};
  int64_t values_only_before = 0;
  int64_t values_only_after = 0;
};

inline constexpr double kLeastValueChange = 0.1;  // in the unit of the heading

struct NamedReport {
  std::string file = {};
  v1::Report report = {};
};
Comparison Compare(const NamedReport& before, const NamedReport& after);

// Why --fail-below fails: an output that lost more than `most_db`, became undefined or vanished.
// Empty if none did.  An exact output is better than any SQNR.
std::string FailedBelow(const Comparison& comparison, double most_db);

}  // namespace octavo::cli
