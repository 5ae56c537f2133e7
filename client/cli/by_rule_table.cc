// SPDX-License-Identifier: Apache-2.0
#include "client/cli/by_rule_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace octavo::cli {
namespace {

using nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr size_t kOutput = 3;  // the first column of measured figures

// A table.  Each column is as wide as its widest cell; figures are right-aligned.
class Columns {
 public:
  explicit Columns(Cells head) : rows_{std::move(head)} {}

  void Add(Cells row) { rows_.push_back(std::move(row)); }

  std::string Text() const {
    std::vector<size_t> widths(rows_.front().size());
    for (const Cells& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        const bool remark = i == kOutput && row.size() == kOutput + 1;
        if (!remark) widths[i] = std::max(widths[i], row[i].size());
      }
    }
    std::string text;
    for (const Cells& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        line += Right(i) ? fmt::format("{:>{}}  ", row[i], widths[i])
                         : fmt::format("{:<{}}  ", row[i], widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
    return text;
  }

 private:
  bool Right(size_t column) const { return column == 0 || column > kOutput; }

  std::vector<Cells> rows_;
};

std::string Decibels(const ordered_json& figure) {
  return figure.is_null() ? "-" : fmt::format("{:.2f}", figure.get<double>());
}

// The largest error in LSB, or as a real number for a float output.
std::string MaxError(const ordered_json& output) {
  if (output["max_steps"].is_null()) return fmt::format("{:.3g}", output["max_abs"].get<double>());
  return fmt::format("{}", output["max_steps"].get<int64_t>());
}

Cells FiguresOf(const ordered_json& output) {
  const auto changed = output["changed"].get<int64_t>();
  const auto elements = output["elements"].get<int64_t>();
  return {output["name"].get<std::string>(),
          fmt::format("{} of {}", changed, elements),
          MaxError(output),
          Decibels(output["sqnr_db_before"]),
          Decibels(output["sqnr_db_after"]),
          output["violates_exact"].get<bool>() ? "NOT EXACT" : ""};
}

// One row per changed output; one row for all outputs if none changed.
std::vector<Cells> MeasuredRows(const ordered_json& run) {
  if (!run["measured"].get<bool>()) return {{"(in every graph measured)"}};
  const ordered_json& outputs = run["outputs"];
  std::vector<Cells> rows;
  for (const ordered_json& output : outputs) {
    if (output["changed"].get<int64_t>() > 0) rows.push_back(FiguresOf(output));
  }
  if (!rows.empty()) return rows;
  if (outputs.size() == 1) return {FiguresOf(outputs[0])};
  return {{fmt::format("all {}", outputs.size()), "0", "0"}};
}

// The rule's id; adds the pass that applied it if another pass defines the rule.
std::string RuleName(const ordered_json& part) {
  const auto rule = part["rule"].get<std::string>(), pass = part["pass"].get<std::string>();
  return rule.starts_with(pass + "/") ? rule : fmt::format("{} (by {})", rule, pass);
}

// The rules of a run, as in "6 fuse-activations/remove-identity exact".  Adds the node if each
// application is measured by itself.
std::vector<Cells> RuleRows(const ordered_json& run) {
  std::vector<Cells> rows;
  const bool each = run.contains("applications") && run["measured"].get<bool>();
  for (const ordered_json& rule : run[each ? "applications" : "parts"]) {
    const int64_t count = each ? 1 : rule["count"].get<int64_t>();
    std::string name = RuleName(rule);
    if (each) name += " " + rule["node"].get<std::string>();
    rows.push_back({std::to_string(count), std::move(name), rule["effect"].get<std::string>()});
  }
  return rows;
}

// Adds one row per rule.  The last rule's row holds the figures of the run.
void AddRun(const ordered_json& run, Columns& table) {
  std::vector<Cells> rules = RuleRows(run);
  for (size_t i = 0; i + 1 < rules.size(); ++i) table.Add(rules[i]);
  Cells row = rules.back();
  for (const Cells& figures : MeasuredRows(run)) {
    row.insert(row.end(), figures.begin(), figures.end());
    table.Add(std::move(row));
    row = Cells(3);
  }
}

}  // namespace

std::string ByRuleTable(std::string_view report_json) {
  const ordered_json report = ordered_json::parse(report_json);
  Columns table(
      {"times", "rule", "effect", "output", "changed", "max LSB", "dB before", "dB after", ""});
  std::vector<std::pair<std::string, std::pair<std::string, std::string>>> ends;
  for (const ordered_json& run : report["by_rule"]) {
    AddRun(run, table);
    for (size_t i = 0; i < run["outputs"].size(); ++i) {
      const ordered_json& output = run["outputs"][i];
      if (i >= ends.size()) {
        ends.push_back({output["name"].get<std::string>(),
                        {Decibels(output["sqnr_db_before"]), Decibels(output["sqnr_db_after"])}});
      }
      ends[i].second.second = Decibels(output["sqnr_db_after"]);
    }
  }
  if (report["by_rule"].empty()) return "no rule was applied after quantization\n";
  std::string text = table.Text();
  for (const auto& [name, figures] : ends) {
    text += fmt::format("{}: {} dB before the first rule, {} dB after the last\n", name,
                        figures.first, figures.second);
  }
  return text;
}

}  // namespace octavo::cli
