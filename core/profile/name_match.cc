// SPDX-License-Identifier: Apache-2.0
// Reproduces how Glow's loader and profiler form names.
#include "core/profile/name_match.h"

#include <algorithm>

namespace octavo::profile {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Legal(std::string_view name) {
  std::string legal;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    legal += letter || IsDigit(c) ? c : '_';
  }
  if (legal.empty() || IsDigit(legal[0])) legal.insert(0, "A");
  return legal;
}

// The position after "name" in "name:0", or the end.
size_t ResultNumber(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == name.size()) return name.size();
  for (const char c : name.substr(colon + 1)) {
    if (!IsDigit(c)) return name.size();
  }
  return colon;
}

// Removes the suffix: "name:0" for "name__7:0".  Empty if there is no such suffix.
std::optional<std::string> WithoutSuffix(std::string_view name) {
  const size_t end = ResultNumber(name);
  const std::string_view base = name.substr(0, end);
  size_t digits = base.size();
  while (digits > 0 && IsDigit(base[digits - 1])) --digits;
  if (digits == base.size() || digits < 3 || base.substr(digits - 2, 2) != "__") {
    return std::nullopt;
  }
  return std::string(base.substr(0, digits - 2)) + std::string(name.substr(end));
}

}  // namespace

NameIndex::NameIndex(const ir::Graph& graph) {
  const auto add_value = [&](const std::string& value) {
    for (const std::string& name : {value, value + ":0"}) values_[name].insert(value);
    const std::string legal = Legal(value);
    for (const std::string& name : {legal, legal + ":0"}) legal_values_[name].insert(value);
  };
  for (const ir::ValueId id : graph.inputs()) add_value(graph.name(id));
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::ValueId input : node.inputs) {
      if (input) add_value(graph.name(input));
    }
    for (size_t k = 0; k < node.results.size(); ++k) {
      if (!node.results[k]) continue;
      const std::string& value = graph.name(node.results[k]);
      add_value(value);
      outputs_[fmt::format("{}:{}", Legal(node.name), k)].insert(value);
    }
  }
}

std::optional<NameIndex::Found> NameIndex::Find(std::string_view name) const {
  const std::optional<std::string> shorter = WithoutSuffix(name);
  int rule = 0;
  for (const Names* names : {&values_, &outputs_, &legal_values_}) {
    for (const bool whole : {true, false}) {
      ++rule;
      if (!whole && !shorter) continue;
      const auto at = names->find(whole ? name : std::string_view(*shorter));
      if (at == names->end()) continue;
      if (at->second.size() > 1) return std::nullopt;
      return Found{rule, *at->second.begin()};
    }
  }
  return std::nullopt;
}

NameIndex::Matched NameIndex::Match(const Profile& profile) const {
  Matched matched{.profile = profile};
  matched.profile.values.clear();
  matched.profile.glow_names = false;
  struct Claim {
    int rule = 0;
    std::vector<std::string> names = {};  // that match the value by the most certain rule
  };
  std::map<std::string, Claim> claims;
  for (const auto& [name, entry] : profile.values) {
    const std::optional<Found> found = Find(name);
    if (!found) {
      matched.unmatched.push_back(name);
      continue;
    }
    Claim& claim = claims[found->value];
    if (claim.rule == 0 || found->rule < claim.rule) {
      matched.unmatched.insert(matched.unmatched.end(), claim.names.begin(), claim.names.end());
      claim = {.rule = found->rule, .names = {name}};
    } else if (found->rule == claim.rule) {
      claim.names.push_back(name);
    } else {
      matched.unmatched.push_back(name);
    }
  }
  for (const auto& [value, claim] : claims) {
    if (claim.names.size() == 1) {
      matched.profile.values.emplace(value, profile.values.find(claim.names[0])->second);
    } else {
      matched.unmatched.insert(matched.unmatched.end(), claim.names.begin(), claim.names.end());
    }
  }
  std::sort(matched.unmatched.begin(), matched.unmatched.end());
  return matched;
}

}  // namespace octavo::profile
