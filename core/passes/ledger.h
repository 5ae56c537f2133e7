// What was rewritten and what that did to the numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::passes {

// Numeric effects, weakest claim last; `--numerics-limit` is the highest that a job allows.
// real-exact stands for float rewrites (equal in real numbers); only the limit `exact` forbids
// them.  new-arithmetic happens once, at import.
enum class Effect {
  kExact,
  kRealExact,
  kNewArithmetic,
  kFewerRoundings,
  kFewerClamps,
  kNewParameters
};
std::string_view Name(Effect effect);

// One law of a pass's table: `law` as a formula, `condition` in words.
struct Rule {
  std::string_view name = {};
  std::string_view law = {};
  Effect effect = Effect::kExact;
  std::string_view condition = {};
};

struct LedgerEntry {
  std::string pass = {};
  std::string rule = {};
  Effect effect = Effect::kExact;
  std::string node = {};
  std::vector<std::string> values = {};  // names before and after
};

// A rewrite that did not happen, with the sentence that says why.
struct Kept {
  std::string pass = {};
  std::string node = {};
  std::string reason = {};
};

}  // namespace octavo::passes
