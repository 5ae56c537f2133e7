// SPDX-License-Identifier: Apache-2.0
// A pass test as a file: comment, options, graphs before the pass, and the expected result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/passes/pass.h"
#include "tests/support/column_moments.h"

namespace octavo::golden {

// One `before` and its expected result.
struct Case {
  std::string before = {};
  int line = 1;  // first line of the section
};

struct GoldenFile {
  std::string head = {};  // the comment and all text before the first section
  std::string options = {};
  std::vector<std::string> kept = {};      // rules that almost apply but must not
  std::vector<std::string> warnings = {};  // required warning codes; empty: any
  std::vector<Case> before = {};
  bool unchanged = false;
  std::string after = {};
  std::string error = {};  // the message of the required error

  // The text of the file with another `after`.
  std::string WithAfter(std::string_view text) const;
};

// Sections start at lines `--- not: RULE ...`, `--- warns: CODE ...`, `--- before`, `--- after`,
// `--- unchanged`, `--- error: MESSAGE`, `--- options: KEY=VALUE ...`.
Result<GoldenFile> ParseGolden(std::string_view text);

// The settings of the options line; `profile` owns the profile that `settings` refers to.
struct GoldenSettings {
  passes::Settings settings = {};
  profile::Profile profile = {};
  // The permitted distance of a graph output in quantization steps.  If unset, the effect
  // determines it; a rule that is the job itself (quantization) must set it.
  std::optional<double> steps = {};
  // The columns that calibration saw in every layer of so many terms; none: no moments.
  test::Columns columns = {};
};
// Keys: the options of a job as in `octavo optimize`, and limit (any effect), target, lower, keep,
// fully-quantized, steps, profile=NAME:MIN:MAX, samples=NAME:VALUE,.., column=VALUE,..,
// channels=NAME:AXIS:MIN,MAX,..
Status ReadOptions(std::string_view line, GoldenSettings& result);

}  // namespace octavo::golden
