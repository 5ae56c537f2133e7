// SPDX-License-Identifier: Apache-2.0
#include "core/job/facts.h"

#include <algorithm>
#include <map>

namespace octavo::job {

Facts FactsOf(const Findings& findings) {
  Facts facts;
  std::map<std::pair<std::string, std::string>, int64_t> rewrites;
  for (const passes::LedgerEntry& entry : findings.rewrites.ledger) {
    ++rewrites[{entry.rule, std::string(passes::Name(entry.effect))}];
  }
  for (const auto& [key, count] : rewrites) {
    facts.rewrites.push_back({.rule = key.first, .effect = key.second, .count = count});
  }
  for (const passes::PassRecord& record : findings.passes) {
    facts.passes.push_back({.pass = record.name, .seconds = record.seconds});
  }
  facts.rescales_removed =
      std::max<int64_t>(0, findings.rescales_before.count - findings.rescales_after.count);
  if (!findings.numerics) return facts;
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> kernels;
  for (const runtime::StepProfile& step : findings.numerics->steps) {
    auto& [operations, seconds] = kernels[{step.kernel, step.isa}];
    operations += step.operations;
    seconds += step.seconds;
  }
  for (const auto& [key, use] : kernels) {
    facts.kernels.push_back(
        {.kernel = key.first, .isa = key.second, .operations = use.first, .seconds = use.second});
  }
  for (const v1::ValueNumerics& output : findings.numerics->outputs) {
    if (output.has_sqnr_db()) facts.output_sqnr_db.push_back(output.sqnr_db());
  }
  for (const v1::ValueNumerics& value : findings.numerics->values) {
    if (value.has_sqnr_db()) facts.value_sqnr_db.push_back(value.sqnr_db());
  }
  facts.saturated_values = findings.numerics->saturated;
  return facts;
}

}  // namespace octavo::job
