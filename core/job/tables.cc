// SPDX-License-Identifier: Apache-2.0
#include "core/job/tables.h"

#include <set>

#include "core/numerics/mode_table.h"
#include "core/passes/pass.h"
#include "core/runtime/kernel_table.h"
#include "core/target/target.h"

namespace octavo::job {

std::vector<std::string> NumericsModes() {
  std::vector<std::string> names;
  for (const numerics::Mode* mode : numerics::AllModes()) names.emplace_back(mode->name);
  return names;
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const passes::Pass* pass : passes::AllPasses()) names.emplace_back(pass->name);
  return names;
}

std::vector<std::pair<std::string, std::string>> Rewrites() {
  std::set<std::pair<std::string, std::string>> rewrites;
  for (const passes::Pass* pass : passes::AllPasses()) {
    for (const passes::Rule& rule : pass->rules) {
      rewrites.emplace(rule.id, passes::Name(rule.effect));
      // Removing a rounding may also remove a clamp, if the limit permits it.
      if (rule.effect == passes::Effect::kFewerRoundings) {
        rewrites.emplace(rule.id, passes::Name(passes::Effect::kFewerClamps));
      }
    }
  }
  return {rewrites.begin(), rewrites.end()};
}

std::vector<std::pair<std::string, std::string>> Kernels() {
  std::set<std::pair<std::string, std::string>> kernels;
  for (const runtime::Kernel* kernel : runtime::AllKernels()) {
    kernels.emplace(kernel->name, kernel->isa ? kernel->isa() : std::string_view());
  }
  return {kernels.begin(), kernels.end()};
}

}  // namespace octavo::job
