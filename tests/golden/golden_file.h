// SPDX-License-Identifier: Apache-2.0
// A pass test as a file: comment, options, graphs before, and what must come out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/passes/pass.h"

namespace octavo::golden {

// One `before` and what is expected of it.
struct Case {
  std::string before = {};
  int line = 1;  // of the section
};

struct GoldenFile {
  std::string head = {};  // comment and everything before the first section
  std::string options = {};
  std::vector<std::string> kept = {};      // rules that must not apply, though they come near
  std::vector<std::string> warnings = {};  // warning codes that the pass must give; empty: any
  std::vector<Case> before = {};
  bool unchanged = false;
  std::string after = {};
  std::string error = {};  // a message that the pass must give

  // Everything as it stands in the file, but for `after`.
  std::string WithAfter(std::string_view text) const;
};

// Sections start at lines `--- not: RULE ...`, `--- warns: CODE ...`, `--- before`, `--- after`,
// `--- unchanged`, `--- error: MESSAGE`, `--- options: KEY=VALUE ...`.
Result<GoldenFile> ParseGolden(std::string_view text);

// What the options line sets; the profile lives in `profile`.
struct GoldenSettings {
  passes::Settings settings = {};
  profile::Profile profile = {};
  // How far a graph output may move, in quantization steps.  Unset, the effect says so; a rule
  // that is the job itself (quantization) needs it.
  std::optional<double> steps = {};
};
// Keys: the options of a job as `octavo optimize` names them, and also limit (any effect),
// target, lower, keep, fully-quantized, steps, profile=NAME:MIN:MAX, samples=NAME:VALUE,..
Status ReadOptions(std::string_view line, GoldenSettings& result);

}  // namespace octavo::golden
