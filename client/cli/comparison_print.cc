// SPDX-License-Identifier: Apache-2.0
#include "client/cli/comparison_print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "client/cli/table.h"
#include "client/cli/terminal_text.h"
#include "core/job/sample_sets.h"

namespace octavo::cli {
namespace {

using nlohmann::ordered_json;
using Cells = std::vector<std::string>;

// The longest tables; what is left out is counted.
constexpr size_t kMostValues = 10;
constexpr size_t kMostRows = 25;
constexpr double kLargestFixed = 1e9;  // larger figures have an exponent
constexpr size_t kDigestLength = 12;

std::string NumberText(double number, const Measure& measure) {
  if (std::isinf(number)) return number > 0 ? "exact" : std::string(measure.undefined);
  number *= measure.factor;
  if (std::abs(number) >= kLargestFixed) return fmt::format("{:.3e}", number);
  return fmt::format("{:.{}f}", number, measure.decimals);
}

// "-" for an option that is empty, or that the report lacks.
std::string OptionText(const ordered_json& value) {
  if (value.is_null() || (!value.is_number() && !value.is_boolean() && value.empty())) return "-";
  if (value.is_string()) return value.get<std::string>().empty() ? "-" : value.get<std::string>();
  if (!value.is_array()) return value.dump();
  Cells items;
  for (const ordered_json& item : value) {
    items.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

// "16 held-out samples".  The report's words are shown if they are known ones only.
std::string SamplesText(const ReportSide& side) {
  using enum job::SamplesRole;
  std::string kind;
  for (const job::SamplesRole role : {kEvaluation, kHeldOut, kCalibration, kSynthetic}) {
    if (side.samples_role == job::Name(role)) kind = side.samples_role + " ";
  }
  if (side.samples_source == "random") kind += "random ";
  return fmt::format("{} {}sample{}", side.samples, kind, side.samples == 1 ? "" : "s");
}

// Code in Markdown: nothing in it is markup, a link or a mention.
std::string MarkdownCode(std::string_view text) {
  if (!text.empty() && text.find_first_of("`|\\") == text.npos) return fmt::format("`{}`", text);
  std::string code = "<code>";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    code += std::ispunct(byte) != 0 ? fmt::format("&#{};", byte) : std::string(1, c);
  }
  return code + "</code>";
}

// Builds the text section by section.
class Printer {
 public:
  Printer(const Comparison& comparison, ComparisonStyle style)
      : comparison_(comparison), markdown_(style == ComparisonStyle::kMarkdown) {}

  std::string Text() {
    AddHead();
    const size_t head = text_.size();
    AddValues("output", comparison_.outputs, kMostRows);
    AddModel();
    AddOptions();
    AddInputs();
    AddWarnings();
    AddListedValues();
    if (text_.size() == head) {
      AddSection("Nothing differs: outputs, sizes, options, inputs, warnings, values.\n");
    }
    return std::move(text_);
  }

 private:
  // A name or a message of a report.
  std::string Code(std::string_view text) const {
    const std::string safe = ForTerminal(text);
    return markdown_ ? MarkdownCode(safe) : safe;
  }
  std::string Quoted(std::string_view name) const {
    return markdown_ ? Code(name) : '\'' + Code(name) + '\'';
  }
  std::string Arrow() const { return markdown_ ? " → " : " -> "; }

  void AddSection(const std::string& section) {
    if (!text_.empty()) text_ += '\n';
    text_ += section;
  }

  // A table of the first rows of `total`, and how many follow.
  void AddTable(Cells headings, std::vector<Cells> rows, std::string_view what, size_t total) {
    if (rows.empty()) return;
    rows.resize(std::min(rows.size(), kMostRows));
    const size_t more = total - rows.size();
    std::string text;
    if (markdown_) {
      const auto line = [&](const Cells& row) {
        text += fmt::format("| {} |\n", fmt::join(row, " | "));
      };
      line(headings);
      line(Cells(headings.size(), "---"));
      for (const Cells& row : rows) line(row);
    } else {
      Table table(std::move(headings));
      for (Cells& row : rows) table.Add(std::move(row));
      text = table.Text();
    }
    if (more > 0) {
      text +=
          fmt::format("{}{} more {}{}.\n", markdown_ ? "\n" : "", more, what, more == 1 ? "" : "s");
    }
    AddSection(text);
  }
  void AddTable(Cells headings, std::vector<Cells> rows, std::string_view what) {
    const size_t total = rows.size();
    AddTable(std::move(headings), std::move(rows), what, total);
  }

  std::string ChangeText(const std::string& before, const std::string& after) const {
    return before == after ? after : before + Arrow() + after;
  }

  // "36.31 -> 37.62 (+1.31)"; a figure that did not change is shown once.
  std::string FigureText(const Figure& figure, bool in_before = true, bool in_after = true) const {
    const Measure& measure = *figure.measure;
    const auto side = [&](bool is_in, const std::optional<double>& number) {
      if (!is_in) return std::string("none");
      return number ? NumberText(*number, measure) : std::string(measure.undefined);
    };
    if (!figure.Differs() && in_before == in_after) return side(true, figure.after);
    std::string text = side(in_before, figure.before) + Arrow() + side(in_after, figure.after);
    const double change = figure.Change();
    if (std::isinf(change) || change == 0) return text;
    return text + fmt::format(" ({}{})", change > 0 ? "+" : "",
                              NumberText(change / measure.factor, measure));
  }

  std::string WorstText() const {
    const auto &before = comparison_.before.worst_output, &after = comparison_.after.worst_output;
    if (!before && !after) return "No report has figures of outputs";
    if (before && after && before->name == after->name) {
      const Figure figure{.measure = comparison_.outputs.front().figures.front().measure,
                          .before = before->sqnr_db,
                          .after = after->sqnr_db};
      return fmt::format("Worst output {}: SQNR in dB {}{}", Quoted(after->name),
                         FigureText(figure), figure.Differs() ? "" : ", unchanged");
    }
    const auto side = [&](const std::optional<WorstFigure>& worst) {
      if (!worst) return std::string("no figures");
      const Measure& measure = *comparison_.outputs.front().figures.front().measure;
      return fmt::format(
          "{} {}", Quoted(worst->name),
          worst->sqnr_db ? NumberText(*worst->sqnr_db, measure) : std::string(measure.undefined));
    };
    return fmt::format("Worst output, SQNR in dB: {}{}{}", side(before), Arrow(), side(after));
  }

  void AddHead() {
    const ReportSide &before = comparison_.before, &after = comparison_.after;
    AddSection(fmt::format("{}{}{}{}\n", markdown_ ? "### Octavo: " : "", Code(before.file),
                           Arrow(), Code(after.file)));
    const auto warn = [&](std::string_view caution) {
      AddSection(fmt::format("{}{}\n", markdown_ ? "> [!WARNING]\n> " : "warning: ", caution));
    };
    if (!comparison_.same_model) {
      warn("a report does not list its inputs, so the models or the samples may differ");
    } else if (!*comparison_.same_model) {
      warn("the reports are of different models: their figures do not compare");
    }
    if (!comparison_.same_samples.value_or(true)) {
      warn(fmt::format("the figures are of different samples, {} and {}: they do not compare",
                       SamplesText(before), SamplesText(after)));
    }
    const std::string samples = SamplesText(after);
    AddSection(fmt::format(
        "{}, on {}{}.\n", WorstText(), samples,
        SamplesText(before) == samples ? "" : fmt::format(" (before: {})", SamplesText(before))));
  }

  // The figures that differ in a row, by their places.
  static std::vector<size_t> DifferingColumns(const std::vector<const ValueChange*>& rows) {
    std::vector<size_t> columns;
    for (size_t i = 0; i < rows.front()->figures.size(); ++i) {
      const bool differs = std::ranges::any_of(rows, [i](const ValueChange* value) {
        const Figure& figure = value->figures[i];
        return figure.Differs() ||
               (value->in_before != value->in_after && (figure.before || figure.after));
      });
      if (differs) columns.push_back(i);
    }
    return columns;
  }

  void AddValues(std::string_view what, const std::vector<ValueChange>& values, size_t most) {
    std::vector<const ValueChange*> shown;
    size_t differing = 0;
    for (const ValueChange& value : values) {
      if (!value.Differs()) continue;
      if (++differing <= most) shown.push_back(&value);
    }
    if (shown.empty()) return;
    const bool types =
        std::ranges::any_of(shown, [](const auto* value) { return value->HasOtherType(); });
    const std::vector<size_t> columns = DifferingColumns(shown);
    Cells headings = {std::string(what)};
    if (types) headings.emplace_back("type");
    for (const size_t i : columns) {
      headings.emplace_back(shown.front()->figures[i].measure->heading);
    }
    std::vector<Cells> rows;
    for (const ValueChange* value : shown) {
      Cells& row = rows.emplace_back(Cells{Code(value->name)});
      if (types) row.push_back(TypeText(*value));
      for (const size_t i : columns) {
        row.push_back(FigureText(value->figures[i], value->in_before, value->in_after));
      }
    }
    AddTable(std::move(headings), std::move(rows), what, differing);
  }

  std::string TypeText(const ValueChange& value) const {
    const auto side = [&](const std::string& dtype, bool is_in) {
      return is_in ? Code(dtype) : std::string("none");
    };
    return ChangeText(side(value.dtype_before, value.in_before),
                      side(value.dtype_after, value.in_after));
  }

  void AddModel() {
    std::vector<Cells> rows;
    for (const Figure& figure : comparison_.model) {
      if (!figure.Differs()) continue;
      rows.push_back({std::string(figure.measure->heading), FigureText(figure)});
    }
    AddTable({"result", "change"}, std::move(rows), "figure");
  }

  void AddOptions() {
    const auto text = [&](const ordered_json& value) {
      const std::string plain = OptionText(value);
      return plain == "-" ? plain : Code(plain);
    };
    std::vector<Cells> rows;
    const std::string &before = comparison_.before.octavo_version,
                      &after = comparison_.after.octavo_version;
    if (before != after) rows.push_back({"Octavo's version", Code(before), Code(after)});
    for (const OptionChange& option : comparison_.options) {
      rows.push_back({Code(option.name), text(option.before), text(option.after)});
    }
    AddTable({"option", "before", "after"}, std::move(rows), "option");
  }

  void AddInputs() {
    const auto side = [&](const std::optional<v1::ReportFile>& file) {
      if (!file) return std::string("-");
      return fmt::format("{} {}", Code(file->name()),
                         Code("sha256:" + file->sha256().substr(0, kDigestLength)));
    };
    std::vector<Cells> rows;
    for (const InputChange& input : comparison_.inputs) {
      rows.push_back({Code(input.role), side(input.before), side(input.after)});
    }
    AddTable({"input", "before", "after"}, std::move(rows), "input");
  }

  void AddWarnings() {
    std::vector<Cells> rows;
    const auto add = [&](std::string_view what, const std::vector<v1::Warning>& warnings) {
      for (const v1::Warning& warning : warnings) {
        rows.push_back({std::string(what), Code(warning.code()), Code(warning.message())});
      }
    };
    add("new", comparison_.new_warnings);
    add("gone", comparison_.gone_warnings);
    AddTable({"warning", "code", "message"}, std::move(rows), "warning");
  }

  void AddListedValues() {
    AddValues("value", comparison_.values, kMostValues);
    const int64_t before = comparison_.values_only_before, after = comparison_.values_only_after;
    if (before == 0 && after == 0) return;
    AddSection(fmt::format("Values only before: {}, only after: {}.\n", before, after));
  }

  const Comparison& comparison_;
  bool markdown_;
  std::string text_ = {};
};

}  // namespace

std::string ComparisonText(const Comparison& comparison, ComparisonStyle style) {
  return Printer(comparison, style).Text();
}

}  // namespace octavo::cli
