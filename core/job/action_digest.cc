// SPDX-License-Identifier: Apache-2.0
#include "core/job/action_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base/engine.h"
#include "core/base/sha256.h"
#include "core/base/version.h"
#include "core/options/option_table.h"

namespace octavo::job {
namespace {

auto KeyOf(const DeclaredInput& input) {
  return std::tie(input.role, input.name, input.size, input.sha256);
}

}  // namespace

std::string_view Name(InputRole role) {
  switch (role) {
    case InputRole::kModel:
      return "model";
    case InputRole::kExternal:
      return "external";
    case InputRole::kProfile:
      return "profile";
    case InputRole::kSamples:
      return "samples";
    case InputRole::kTarget:
      return "target";
  }
  return "";
}

std::string ActionDigest(Options options, std::vector<DeclaredInput> inputs) {
  // The file decides, whatever path it was read from.
  if (std::ranges::count(inputs, InputRole::kTarget, &DeclaredInput::role) > 0) {
    options.target.clear();
  }
  Sha256 hash;
  const auto add = [&](std::string_view field) {
    hash.Update(fmt::format("{}:", field.size()));
    hash.Update(field);
  };
  add("octavo-action 1");
  add(Version());
  add(EngineDigest());
  add(ActionOptionsJson(options).dump());
  std::ranges::sort(inputs, {}, KeyOf);
  for (const DeclaredInput& input : inputs) {
    add(Name(input.role));
    add(input.name);
    add(fmt::format("{}", input.size));
    add(input.sha256);
  }
  return "sha256:" + hash.Finish();
}

}  // namespace octavo::job
