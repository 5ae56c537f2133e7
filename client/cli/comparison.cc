// SPDX-License-Identifier: Apache-2.0
#include "client/cli/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "client/cli/comparison_inputs.h"

namespace octavo::cli {
namespace {

using Values = google::protobuf::RepeatedPtrField<v1::ValueNumerics>;
using Warnings = google::protobuf::RepeatedPtrField<v1::Warning>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// An SQNR above this one is as good as any: the noise is a millionth of the signal.
constexpr double kMostDecibels = 60;
// The figures of reports are rounded.
constexpr double kTolerance = 1e-6;

double Standing(const std::optional<double>& figure) { return figure.value_or(-kInfinity); }

template <class Message>
struct Column {
  Measure measure = {};
  std::optional<double> (*of)(const Message& message) = nullptr;
};

template <auto Has, auto Get, class Message>
std::optional<double> Of(const Message& message) {
  if (!(message.*Has)()) return std::nullopt;
  return (message.*Get)();
}

std::optional<double> SqnrOf(const v1::ValueNumerics& value) {
  if (value.exact()) return kInfinity;
  return Of<&v1::ValueNumerics::has_sqnr_db, &v1::ValueNumerics::sqnr_db>(value);
}

constexpr Measure kSqnr = {
    .key = "sqnr_db", .heading = "SQNR, dB", .decimals = 2, .undefined = "undefined"};

// The columns of outputs.
constexpr Column<v1::ValueNumerics> kOutputColumns[] = {
    {kSqnr, &SqnrOf},
    {{.key = "cosine", .heading = "cosine", .decimals = 6},
     &Of<&v1::ValueNumerics::has_cosine, &v1::ValueNumerics::cosine>},
    {{.key = "top1_agreement", .heading = "top-1 agreement, %", .decimals = 2, .factor = 100},
     &Of<&v1::ValueNumerics::has_top1_agreement, &v1::ValueNumerics::top1_agreement>},
};

// The columns of values; the first one that is defined in both reports decides their order.
constexpr Column<v1::ValueNumerics> kValueColumns[] = {
    {{.key = "local_sqnr_db", .heading = "local SQNR, dB", .decimals = 2},
     &Of<&v1::ValueNumerics::has_local_sqnr_db, &v1::ValueNumerics::local_sqnr_db>},
    {kSqnr, &SqnrOf},
};

template <auto Get>
std::optional<double> Labelled(const v1::Report& report) {
  const v1::Accuracy& accuracy = report.numerics().accuracy();
  if (!report.numerics().has_accuracy()) return std::nullopt;
  return Get(accuracy);
}

// The rows of the result as a whole.
constexpr Column<v1::Report> kModelColumns[] = {
    {{.key = "top1", .heading = "top-1 of the labels, %", .decimals = 2, .factor = 100},
     &Labelled<&Of<&v1::Accuracy::has_top1, &v1::Accuracy::top1, v1::Accuracy>>},
    {{.key = "top5", .heading = "top-5 of the labels, %", .decimals = 2, .factor = 100},
     &Labelled<&Of<&v1::Accuracy::has_top5, &v1::Accuracy::top5, v1::Accuracy>>},
    {{.key = "bytes_after",
      .heading = "size, KiB",
      .decimals = 1,
      .factor = 1.0 / 1024,
      .count = true},
     [](const v1::Report& report) { return std::optional<double>(report.model().bytes_after()); }},
    {{.key = "nodes_after", .heading = "nodes", .count = true},
     [](const v1::Report& report) { return std::optional<double>(report.model().nodes_after()); }},
    {{.key = "float_nodes", .heading = "nodes in float", .count = true},
     [](const v1::Report& report) { return std::optional<double>(report.float_nodes_size()); }},
    {{.key = "rescales_after", .heading = "Rescales", .count = true},
     [](const v1::Report& report) { return std::optional<double>(report.rescales().after()); }},
};

// Values with the same name in the same place among those of this name.
using Pair = std::pair<const v1::ValueNumerics*, const v1::ValueNumerics*>;
std::vector<Pair> PairUp(const Values& before, const Values& after) {
  std::map<std::string_view, std::vector<size_t>> open;
  std::vector<Pair> pairs;
  for (const v1::ValueNumerics& value : before) {
    open[value.name()].push_back(pairs.size());
    pairs.emplace_back(&value, nullptr);
  }
  for (auto& [name, places] : open) std::ranges::reverse(places);
  for (const v1::ValueNumerics& value : after) {
    const auto at = open.find(value.name());
    if (at == open.end() || at->second.empty()) {
      pairs.emplace_back(nullptr, &value);
      continue;
    }
    pairs[at->second.back()].second = &value;
    at->second.pop_back();
  }
  return pairs;
}

ValueChange ChangeOf(const Pair& pair, std::span<const Column<v1::ValueNumerics>> columns) {
  const auto [before, after] = pair;
  ValueChange change{.name = (before == nullptr ? after : before)->name(),
                     .in_before = before != nullptr,
                     .in_after = after != nullptr};
  if (before != nullptr) change.dtype_before = before->dtype();
  if (after != nullptr) change.dtype_after = after->dtype();
  for (const auto& column : columns) {
    Figure& figure = change.figures.emplace_back(Figure{.measure = &column.measure});
    if (before != nullptr) figure.before = column.of(*before);
    if (after != nullptr) figure.after = column.of(*after);
  }
  return change;
}

void SortByChange(std::vector<ValueChange>& changes, double (*size)(const ValueChange& change)) {
  std::ranges::stable_sort(changes, std::ranges::greater(), size);
}

std::vector<ValueChange> CompareOutputs(const Values& before, const Values& after) {
  std::vector<ValueChange> outputs;
  for (const Pair& pair : PairUp(before, after)) {
    outputs.push_back(ChangeOf(pair, kOutputColumns));
  }
  SortByChange(outputs, [](const ValueChange& output) {
    const bool stays = output.in_before && output.in_after;
    return stays ? std::abs(output.figures.front().Change()) : kInfinity;
  });
  return outputs;
}

// The size of a change between figures that are both defined, up to kMostDecibels.
std::optional<double> SizeOf(const Figure& figure) {
  if (!figure.before || !figure.after) return std::nullopt;
  const double factor = figure.measure->factor;
  return std::abs(std::min(kMostDecibels, *figure.after * factor) -
                  std::min(kMostDecibels, *figure.before * factor));
}

bool IsListed(const ValueChange& value) {
  return value.HasOtherType() || std::ranges::any_of(value.figures, [](const Figure& figure) {
           return SizeOf(figure).value_or(0) >= kLeastValueChange;
         });
}

void CompareValues(const Values& before, const Values& after, Comparison& comparison) {
  for (const Pair& pair : PairUp(before, after)) {
    if (pair.first == nullptr) {
      ++comparison.values_only_after;
    } else if (pair.second == nullptr) {
      ++comparison.values_only_before;
    } else if (ValueChange change = ChangeOf(pair, kValueColumns); IsListed(change)) {
      comparison.values.push_back(std::move(change));
    }
  }
  SortByChange(comparison.values, [](const ValueChange& value) {
    for (const Figure& figure : value.figures) {
      if (const auto size = SizeOf(figure)) return *size;
    }
    return 0.0;
  });
}

// Equal for warnings of the same cause.  Numbers of a message may differ; those in names, which are
// in quotes, may not.
std::string CauseOf(const v1::Warning& warning) {
  std::string cause = warning.code() + '\n' + warning.node() + '\n';
  if (!warning.node().empty()) return cause;
  bool quoted = false;
  for (const char c : warning.message()) {
    quoted ^= c == '\'';
    if (quoted || std::isdigit(static_cast<unsigned char>(c)) == 0) cause += c;
  }
  return cause;
}

// The warnings of `some` that `others` lack.
std::vector<v1::Warning> Missing(const Warnings& some, const Warnings& others) {
  std::map<std::string, int> causes;
  for (const v1::Warning& warning : others) ++causes[CauseOf(warning)];
  std::vector<v1::Warning> missing;
  for (const v1::Warning& warning : some) {
    if (--causes[CauseOf(warning)] < 0) missing.push_back(warning);
  }
  return missing;
}

ReportSide SideOf(const NamedReport& named) {
  const v1::Report& report = named.report;
  const v1::Numerics& numerics = report.numerics();
  ReportSide side{.file = named.file,
                  .octavo_version = report.octavo_version(),
                  .action_digest = report.action_digest(),
                  .lists_inputs = report.inputs_size() > 0,
                  .samples = numerics.samples(),
                  .samples_role = numerics.samples_role(),
                  .samples_source = numerics.samples_source()};
  const auto worst = std::ranges::min_element(
      numerics.outputs(), {}, [](const v1::ValueNumerics& v) { return Standing(SqnrOf(v)); });
  if (worst != numerics.outputs().end()) {
    side.worst_output = WorstFigure{.name = worst->name(), .sqnr_db = SqnrOf(*worst)};
  }
  return side;
}

}  // namespace

double Figure::Change() const {
  const double from = Standing(before), to = Standing(after);
  return from == to ? 0 : (to - from) * measure->factor;
}

bool Figure::Differs() const { return std::abs(Change()) * std::pow(10, measure->decimals) >= 0.5; }

bool ValueChange::HasOtherType() const {
  return in_before && in_after && dtype_before != dtype_after;
}

bool ValueChange::Differs() const {
  return in_before != in_after || HasOtherType() || std::ranges::any_of(figures, &Figure::Differs);
}

Comparison Compare(const NamedReport& before, const NamedReport& after) {
  const v1::Report &a = before.report, &b = after.report;
  Comparison comparison{.before = SideOf(before),
                        .after = SideOf(after),
                        .same_model = SameModel(a, b),
                        .same_samples = SameSamples(a, b),
                        .outputs = CompareOutputs(a.numerics().outputs(), b.numerics().outputs()),
                        .options = CompareOptions(a, b),
                        .inputs = CompareInputs(a, b),
                        .new_warnings = Missing(b.warnings(), a.warnings()),
                        .gone_warnings = Missing(a.warnings(), b.warnings())};
  for (const auto& column : kModelColumns) {
    comparison.model.push_back(
        {.measure = &column.measure, .before = column.of(a), .after = column.of(b)});
  }
  CompareValues(a.numerics().values(), b.numerics().values(), comparison);
  return comparison;
}

std::string FailedBelow(const Comparison& comparison, double most_db) {
  std::vector<std::string> failed;
  for (const ValueChange& output : comparison.outputs) {
    const Figure& sqnr = output.figures.front();
    const double lost = -sqnr.Change();
    if (!output.in_before || (output.in_after && lost <= most_db + kTolerance)) continue;
    if (!output.in_after) {
      failed.push_back(fmt::format("output '{}' vanished", output.name));
    } else if (!sqnr.after) {
      failed.push_back(fmt::format("the SQNR of output '{}' became undefined", output.name));
    } else if (std::isinf(*sqnr.before)) {
      failed.push_back(fmt::format("output '{}' was exact and has an SQNR of {:.2f} dB now",
                                   output.name, *sqnr.after));
    } else {
      failed.push_back(
          fmt::format("output '{}' lost {:.2f} dB, more than {}", output.name, lost, most_db));
    }
  }
  if (failed.empty()) return {};
  if (failed.size() == 1) return failed.front();
  return fmt::format("{} (and {} more)", failed.front(), failed.size() - 1);
}

}  // namespace octavo::cli
