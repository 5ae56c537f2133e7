// SPDX-License-Identifier: Apache-2.0
// The ledger: the applications of rewrite rules, with their numeric effects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::passes {

// Numeric effects, strongest guarantee first; `--numerics-limit` is the last one that a job allows.
// real-exact is for float rewrites (equal in real numbers, float rounding may differ); only the
// limit `exact` forbids it.  new-arithmetic occurs once, where quantized ops are formed.
enum class Effect {
  kExact,
  kRealExact,
  kNewArithmetic,
  kFewerRoundings,
  kFewerClamps,
  kNewParameters
};
std::string_view Name(Effect effect);

// One rewrite rule: `pattern` becomes `replacement` where `condition` holds; `effect` holds unless
// the condition names another one.
struct Rule {
  std::string_view id = {};  // "pass/rule", unique; the pass is the one that defines the rule
  std::string_view pattern = {};
  std::string_view replacement = {};
  Effect effect = Effect::kExact;
  std::string_view condition = {};
};

// One application of a rule.
struct LedgerEntry {
  std::string pass = {};  // that applied the rule; not always the one that defines it
  std::string rule = {};  // Rule::id
  Effect effect = Effect::kExact;
  std::string node = {};
  std::vector<std::string> values = {};  // names before and after
};

// A rule that did not apply, with the reason as a sentence.
struct Kept {
  std::string pass = {};
  std::string node = {};
  std::string reason = {};
};

}  // namespace octavo::passes
