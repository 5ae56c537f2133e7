// SPDX-License-Identifier: Apache-2.0
// Fills octavo.v1.Report, the report of a job, with the findings of every stage.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/job/error_shares.h"
#include "core/job/job.h"
#include "core/job/sample_survey.h"
#include "core/passes/pass.h"
#include "core/report/diff.h"
#include "core/report/mode_diff.h"

namespace octavo::job {

struct ModelFigures {
  int64_t nodes = 0;
  std::map<std::string, int64_t> ops = {};
  int64_t bytes = 0;
};

struct RescaleFigures {
  int64_t count = 0;
  int64_t elements = 0;
};

struct ProfileFigures {
  int64_t matched = 0;
  std::vector<std::string> unmatched_entries = {};
  std::string hint = {};  // for the first of these, or empty: DidYouMean(..)
};

struct Findings {
  std::string action_digest = {};
  std::string command = {};
  std::vector<v1::GivenOption> given_options = {};
  std::vector<v1::ReportFile> files_read = {};
  std::vector<v1::ReportFile> files_written = {};
  ModelFigures before = {}, after = {};
  RescaleFigures rescales_before = {}, rescales_after = {};
  ProfileFigures profile = {};
  std::vector<passes::PassRecord> passes = {};
  passes::Findings rewrites = {};
  std::vector<passes::FloatNode> float_nodes = {};
  std::vector<passes::Kept> kept_rescales = {};
  std::optional<v1::ModeComparison> against = {};
  std::optional<report::DiffResult> numerics = {};  // empty: no integer run was made
  int64_t samples = 0;
  std::string samples_source = {};
  std::string samples_role = {};  // sample_sets.h
  int64_t calibration_samples = 0;
  std::optional<v1::AccuracyBudget> budget = {};
  std::vector<v1::SearchCandidate> search = {};
  std::optional<v1::EqualizeTrial> equalize_trial = {};  // of --equalize auto
  std::optional<ErrorShares> shares = {};                // with --advise
  std::vector<v1::Advice> advice = {};
  std::vector<SurveyedInput> inputs = {};  // of samples that were read
};

// Converts an entry without `count`, which only entries of the report's ledger have.
v1::LedgerEntry ToMessage(const passes::LedgerEntry& entry);

// The text of report.json.
std::string ReportJson(const Options& options, const passes::Settings& settings,
                       const Findings& findings);

}  // namespace octavo::job
