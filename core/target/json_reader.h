// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of target descriptions: objects of which every key is known, words of closed sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/status.h"

namespace octavo::target {

using nlohmann::json;

template <class Enum>
struct Word {
  Enum value;
  std::string_view name;
};

template <class Table, class Enum>
std::string_view NameIn(const Table& table, Enum value) {
  return std::ranges::find_if(table, [&](const auto& word) { return word.value == value; })->name;
}

template <class Enum, class Table>
std::optional<Enum> FindIn(const Table& table, std::string_view name) {
  const auto at = std::ranges::find_if(table, [&](const auto& word) { return word.name == name; });
  if (at == std::end(table)) return std::nullopt;
  return at->value;
}

inline Failure Wrong(std::string_view key, std::string_view must) {
  return Fail(Code::kUsage, "target file: '{}' must be {}", key, must).Field(key);
}

// Reads the keys of one JSON object; each is taken once, the rest are unknown.
class Reader {
 public:
  Reader(const json& object, std::string prefix) : object_(object), prefix_(std::move(prefix)) {}

  template <class T>
  Status Read(std::string_view key, T& value, std::string_view must) {
    known_.insert(std::string(key));
    const auto at = object_.find(key);
    if (at == object_.end()) return {};
    if (!Take(*at, value)) return Wrong(prefix_ + std::string(key), must);
    return {};
  }
  const json* Child(std::string_view key) {
    known_.insert(std::string(key));
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  Status RefuseUnknown() const {
    for (const auto& [key, value] : object_.items()) {
      if (!known_.count(key)) {
        return Fail(Code::kUsage, "target file: unknown key '{}{}'", prefix_, key).Field(key);
      }
    }
    return {};
  }

 private:
  // Whether the value has the type.  json::get would convert any number to any other one, which is
  // undefined for a number out of the type's range.
  template <class T>
  static bool Take(const json& from, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!from.is_boolean()) return false;
    } else if constexpr (std::is_integral_v<T>) {
      if (!from.is_number_integer()) return false;
      const bool fits = from.is_number_unsigned() ? std::in_range<T>(from.get<uint64_t>())
                                                  : std::in_range<T>(from.get<int64_t>());
      if (!fits) return false;
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!from.is_number()) return false;
    }
    try {
      value = from.get<T>();
    } catch (const json::exception&) {
      return false;
    }
    return true;
  }

  const json& object_;
  std::string prefix_;
  std::set<std::string> known_;
};

}  // namespace octavo::target
