// SPDX-License-Identifier: Apache-2.0
#include "core/job/accuracy_budget.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/data/hold_out.h"
#include "core/job/worst_output.h"
#include "core/passes/rescale/same_type_groups.h"
#include "core/report/counterparts.h"
#include "core/report/group_errors.h"

namespace octavo::job {
namespace {

constexpr int64_t kRankingBatches = 2;
// Of the elements of all quantized values.
constexpr double kMostWide = 0.5;
// Quantized models that are measured, so that the time of a job does not depend on the number of
// its groups.  Grow and Bisect measure two for each doubling of the groups at most.
constexpr int64_t kMostTrials = 64;

struct Candidate {
  report::ScaleGroup group = {};
  std::vector<std::string> names = {};
  int64_t elements = 0;
  double error = 0;
  double PerElement() const { return error / static_cast<double>(std::max<int64_t>(elements, 1)); }
};

class Chooser {
 public:
  Chooser(const Trial& trial, const Profiled& profiled)
      : trial_(trial), job_(trial.job()), profiled_(profiled) {}

  Result<BudgetChoice> Run() {
    BudgetChoice choice;
    v1::AccuracyBudget& figures = choice.figures;
    target_ = job_.options().accuracy_budget;
    figures.set_target_db(target_);
    OCTAVO_TRY(Quantized base, trial_.Quantize(profiled_));
    OCTAVO_TRY(const double before, Measure(base));
    best_ = before;
    if (best_ < target_) {
      OCTAVO_CHECK(Rank(base));
      base = {};
      OCTAVO_CHECK(Grow());
      OCTAVO_CHECK(Shrink());
    }
    if (std::isfinite(before)) figures.set_sqnr_db_before(before);
    if (std::isfinite(best_)) figures.set_sqnr_db(best_);
    figures.set_reached(best_ >= target_);
    figures.set_trials(trials_);
    int64_t wide = 0;
    for (const size_t i : chosen_) {
      const Candidate& candidate = candidates_[i];
      v1::WideGroup& group = *figures.add_groups();
      group.mutable_values()->Assign(candidate.names.begin(), candidate.names.end());
      group.set_elements(candidate.elements);
      group.set_error(candidate.error);
      wide += candidate.elements;
    }
    if (elements_ > 0) {
      figures.set_element_share(static_cast<double>(wide) / static_cast<double>(elements_));
    }
    choice.names = NamesOf(chosen_);
    return choice;
  }

 private:
  using Chosen = std::vector<size_t>;  // places in candidates_, ascending

  // On the samples that evaluate.
  Result<double> Measure(const Quantized& quantized) {
    ++trials_;
    return MeasureWorstSqnr(job_, quantized);
  }

  Result<double> Try(const Chosen& chosen) {
    OCTAVO_CHECK(job_.settings.stop.Check());
    OCTAVO_TRY(const Quantized quantized, trial_.Quantize(profiled_, NamesOf(chosen)));
    return Measure(quantized);
  }

  std::vector<std::string> NamesOf(const Chosen& chosen) const {
    std::vector<std::string> names;
    for (const size_t i : chosen) {
      names.insert(names.end(), candidates_[i].names.begin(), candidates_[i].names.end());
    }
    return names;
  }

  // Finds the groups of 8-bit values, and sorts them by falling error per element.
  Status Rank(const Quantized& base) {
    const ir::Graph &graph = base.rewriting.graph, &floats = base.float_graph;
    const passes::SameTypeGroups groups(graph, job_.settings.target);
    for (int g = 0; g < groups.size(); ++g) {
      Candidate candidate{.group = {.type = groups.TypeOf(g)}};
      std::set<ir::ValueId> seen;
      for (const ir::ValueId id : groups.members(g)) {
        if (graph.IsConstant(id)) continue;
        candidate.elements += graph.type(id).elements();
        const ir::ValueId value = report::BaselineOf(floats, graph, id);
        if (!value || floats.IsConstant(value) || !seen.insert(value).second) continue;
        if (floats.type(value).dtype != ir::DType::kF32) continue;
        candidate.group.values.push_back(value);
        candidate.names.push_back(floats.name(value));
      }
      elements_ += candidate.elements;
      if (candidate.names.empty() || ir::SizeOf(candidate.group.type.dtype) > 1) continue;
      candidates_.push_back(std::move(candidate));
    }
    std::vector<report::ScaleGroup> scale_groups;
    for (const Candidate& each : candidates_) scale_groups.push_back(each.group);
    const SampleSets& samples = profiled_.prepared.samples;
    const ir::Batches& all = samples.calibration.batches.empty() ? samples.evaluation.batches
                                                                 : samples.calibration.batches;
    OCTAVO_TRY(const std::vector<double> errors,
               report::GroupErrors(floats, scale_groups, data::FirstOf(all, kRankingBatches),
                                   *job_.settings.target.numerics, *job_.settings.pool,
                                   job_.settings.stop));
    for (size_t i = 0; i < errors.size(); ++i) candidates_[i].error = errors[i];
    std::ranges::stable_sort(candidates_, std::greater<>{}, &Candidate::PerElement);
    // Those that may have 16 bits together, the first ones first.
    double sum = 0;
    std::erase_if(candidates_, [&](const Candidate& each) {
      const double with = sum + static_cast<double>(each.elements);
      if (with > kMostWide * static_cast<double>(elements_)) return true;
      sum = with;
      return false;
    });
    return {};
  }

  static Chosen With(Chosen chosen, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) chosen.push_back(i);
    return chosen;
  }

  Status Grow() {
    const size_t most = candidates_.size();
    size_t step = 1;
    for (size_t begin = 0; begin < most && best_ < target_; step *= 2) {
      const size_t end = std::min(begin + step, most);
      const Chosen tried = With(chosen_, begin, end);
      OCTAVO_TRY(const double sqnr, Try(tried));
      if (sqnr >= target_) return Bisect(begin, end, sqnr);
      if (sqnr > best_) {
        chosen_ = tried;
        best_ = sqnr;
      }
      begin = end;
    }
    return {};
  }

  // Takes as few of the groups from `begin` as reach the budget; those up to `end` do.
  Status Bisect(size_t begin, size_t end, double sqnr) {
    size_t misses = begin;
    while (end - misses > 1) {
      const size_t middle = misses + (end - misses) / 2;
      OCTAVO_TRY(const double reached, Try(With(chosen_, begin, middle)));
      if (reached >= target_) {
        end = middle;
        sqnr = reached;
      } else {
        misses = middle;
      }
    }
    chosen_ = With(chosen_, begin, end);
    best_ = sqnr;
    return {};
  }

  // Returns groups to 8 bits that the budget does not need, the least useful first.  The last one
  // of Bisect is needed.
  Status Shrink() {
    if (best_ < target_ || chosen_.size() < 2) return {};
    for (size_t i = chosen_.size() - 1; i-- > 0 && trials_ < kMostTrials;) {
      Chosen without = chosen_;
      without.erase(without.begin() + static_cast<ptrdiff_t>(i));
      OCTAVO_TRY(const double sqnr, Try(without));
      if (sqnr < target_) continue;
      chosen_ = std::move(without);
      best_ = sqnr;
    }
    return {};
  }

  const Trial& trial_;
  const JobContext job_;
  const Profiled& profiled_;
  double target_ = 0, best_ = 0;
  int64_t trials_ = 0;
  int64_t elements_ = 0;  // of all quantized values
  std::vector<Candidate> candidates_ = {};
  Chosen chosen_ = {};
};

}  // namespace

Result<BudgetChoice> ChooseWithinBudget(const Trial& trial, const Profiled& profiled) {
  return Chooser(trial, profiled).Run();
}

}  // namespace octavo::job
