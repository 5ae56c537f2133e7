// SPDX-License-Identifier: Apache-2.0
#include "core/job/advice.h"

#include <algorithm>
#include <cmath>

#include "core/job/equalize_trial.h"
#include "core/job/provenance.h"
#include "core/job/settings.h"
#include "core/job/trial.h"
#include "core/job/worst_output.h"
#include "core/options/option_table.h"

namespace octavo::job {
namespace {

constexpr size_t kMostTrials = 13;
constexpr size_t kMostAdvice = 8;
constexpr double kLeastGain = 0.1;
constexpr std::string_view kSeveral = "several";

// A job with other options.
struct Candidate {
  std::string action = {};
  std::vector<std::string> names = {};
  int64_t elements = 0;
  Options options = {};
  bool joins = false;  // may be part of `several`
};

class Adviser {
 public:
  Adviser(const JobContext& job, const ErrorShares& shares, double sqnr_db)
      : job_(job), shares_(shares), before_(sqnr_db) {}

  Result<std::vector<v1::Advice>> Run() {
    Collect();
    const auto total = static_cast<int64_t>(candidates_.size()) + 1;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      job_.Report("advice", static_cast<int64_t>(i), total);
      OCTAVO_CHECK(Try(candidates_[i]));
    }
    job_.Report("advice", total - 1, total);
    if (const std::optional<Candidate> together = Together()) OCTAVO_CHECK(Try(*together));
    job_.Report("advice", total, total);
    std::ranges::stable_sort(advice_, std::greater<>{}, &v1::Advice::gain_db);
    advice_.resize(std::min(advice_.size(), kMostAdvice));
    return std::move(advice_);
  }

 private:
  // The job's own options, without what only its report has.
  Options Base() const {
    Options options = job_.request.options;
    options.advise = false;
    options.snapshots = false;
    return options;
  }

  // Adds a job with this argument for an option, unless it is what the job had.
  void AddChoice(std::string_view option, const std::string& argument, int64_t elements = 0) {
    Candidate each{.action = std::string(option),
                   .names = {argument},
                   .elements = elements,
                   .options = Base(),
                   .joins = elements == 0};
    const OptionRow& row = *FindOption(option);
    const Status set = SetOptionText(row, each.options, argument);
    if (set && row.get(each.options) != row.get(job_.options())) Add(std::move(each));
  }

  void Add(Candidate candidate) {
    // The last trial is that of all that helped.
    if (candidates_.size() + 1 < kMostTrials) candidates_.push_back(std::move(candidate));
  }

  void Collect() {
    for (const std::string_view method : kTriedCalibrations) {
      AddChoice("calibration", std::string(method));
    }
    if (!job_.request.profile) {
      for (const char* rounding : {"descent", "bias"}) AddChoice("rounding", rounding);
    }
    AddChoice("equalize", "on");
    if (shares_.totals.outputs() > 0 && !job_.options().integer_io) {
      AddChoice("output_type", "float-outputs");
    }
    const auto& types = job_.settings.target.activations;
    const bool has_16_bits = std::ranges::find(types, ir::DType::kI16) != types.end();
    if (has_16_bits && types.front() != ir::DType::kI16) {
      AddChoice("activations", "i16", shares_.elements);
      for (const size_t count : {1, 4, 8}) AddWide(0, count);
      AddWide(1, 2);
    }
    for (const GroupShare& group : shares_.groups) {
      if (group.node.empty()) continue;
      Candidate each{.action = "keep_float",
                     .names = {group.node},
                     .elements = group.elements,
                     .options = Base()};
      each.options.keep_float.push_back(group.node);
      Add(std::move(each));
      break;
    }
  }

  // 16 bits for the groups of 8 bits from place `begin` to `end` by their shares.
  void AddWide(size_t begin, size_t end) {
    Candidate each{.action = "int16", .options = Base(), .joins = true};
    size_t place = 0, added = 0;
    for (const GroupShare& group : shares_.groups) {
      if (!group.has_8_bits || group.share <= 0) continue;
      if (place >= begin && place < end) {
        each.names.push_back(group.names.front());
        each.options.int16.push_back(group.names.front());
        each.elements += group.elements;
        ++added;
      }
      ++place;
    }
    if (added == end - begin) Add(std::move(each));
  }

  Status Try(const Candidate& candidate) {
    OCTAVO_CHECK(job_.settings.stop.Check());
    Request request = job_.request;
    request.options = candidate.options;
    request.certificate = false;
    const Result<double> sqnr = Measure(request);
    if (!sqnr) {
      // The target, the opset or the form of the result does not have it.
      const Code code = sqnr.error().code;
      if (code == Code::kUnimplemented || code == Code::kUsage) return {};
      return Failure(sqnr.error());
    }
    const double gain = *sqnr - before_;
    if (!std::isfinite(gain) || gain < kLeastGain) return {};
    v1::Advice& advice = advice_.emplace_back();
    advice.set_action(candidate.action);
    advice.mutable_names()->Assign(candidate.names.begin(), candidate.names.end());
    advice.set_gain_db(gain);
    advice.set_cost_elements(candidate.elements);
    advice.set_command(CommandOf(request));
    advice.set_sqnr_db(*sqnr);
    if (candidate.joins) helped_.push_back({gain, &candidate});
    return {};
  }

  Result<double> Measure(const Request& request) const {
    OCTAVO_TRY(passes::Settings settings, SettingsOf(request));
    settings.pool = job_.settings.pool;
    settings.stop = job_.settings.stop;
    const Observer silent;
    const JobContext job{request, settings, silent};
    OCTAVO_TRY(Imported imported, ImportModel(job));
    OCTAVO_TRY(Prepared prepared, Prepare(job, std::move(imported)));
    OCTAVO_TRY(Profiled profiled, Calibrate(job, std::move(prepared), Reuse::kNothing));
    OCTAVO_CHECK(SettleEqualize(job, profiled, settings.options));
    OCTAVO_TRY(const Quantized quantized, Quantize(job, std::move(profiled)));
    OCTAVO_CHECK(Export(job, quantized));
    return MeasureWorstSqnr(job, quantized);
  }

  // The best of each option that helped; nullopt unless there are two.
  std::optional<Candidate> Together() {
    std::ranges::stable_sort(helped_, std::greater<>{}, &Helped::gain);
    Candidate all{.action = std::string(kSeveral), .options = Base()};
    std::vector<std::string_view> joined;
    for (const Helped& each : helped_) {
      const Candidate& one = *each.candidate;
      if (std::ranges::find(joined, one.action) != joined.end()) continue;
      joined.push_back(one.action);
      const OptionRow& row = *FindOption(one.action);
      if (!SetOption(row, all.options, row.get(one.options))) return std::nullopt;
      all.elements += one.elements;
      const std::string flag =
          row.flag == OptionFlag::kPerChoice ? "--" + one.names.front() : row.FlagName();
      all.names.push_back(row.flag == OptionFlag::kPerChoice
                              ? flag
                              : fmt::format("{} {}", flag, fmt::join(one.names, ",")));
    }
    if (joined.size() < 2) return std::nullopt;
    return all;
  }

  struct Helped {
    double gain = 0;
    const Candidate* candidate = nullptr;
  };

  const JobContext& job_;
  const ErrorShares& shares_;
  double before_ = 0;
  std::vector<Candidate> candidates_ = {};
  std::vector<Helped> helped_ = {};  // of candidates_, which does not change any more
  std::vector<v1::Advice> advice_ = {};
};

}  // namespace

Result<std::vector<v1::Advice>> Advise(const JobContext& job, const ErrorShares& shares,
                                       double sqnr_db) {
  if (!std::isfinite(sqnr_db)) return std::vector<v1::Advice>();
  return Adviser(job, shares, sqnr_db).Run();
}

}  // namespace octavo::job
