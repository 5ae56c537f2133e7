// SPDX-License-Identifier: Apache-2.0
// The record of all rewrites and their numeric effects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::passes {

// Numeric effects, from the weakest to the strongest; `--numerics-limit` is the strongest that a
// job allows.  real-exact is for float rewrites (equal in real numbers, float rounding may differ);
// only the limit `exact` forbids it.  new-arithmetic occurs once, when quantized ops are created.
enum class Effect {
  kExact,
  kRealExact,
  kNewArithmetic,
  kFewerRoundings,
  kFewerClamps,
  kNewParameters
};
std::string_view Name(Effect effect);

// One rewrite rule: `pattern` becomes `replacement` if `condition` holds.  `effect` is the
// strongest effect of an application unless the condition names a stronger one.
struct Rule {
  std::string_view id = {};  // "pass/rule", unique; `pass` is the pass that defines the rule
  std::string_view pattern = {};
  std::string_view replacement = {};
  Effect effect = Effect::kExact;
  std::string_view condition = {};
};

// One application of a rule.
struct LedgerEntry {
  std::string pass = {};  // that applied the rule; may differ from the one that defines it
  std::string rule = {};  // Rule::id
  Effect effect = Effect::kExact;
  std::string node = {};
  std::vector<std::string> values = {};  // names before and after the rewrite
};

// A rule that did not apply, and the reason as a sentence.
struct Kept {
  std::string pass = {};
  std::string node = {};
  std::string reason = {};
};

}  // namespace octavo::passes
