// Figures of a value as the report's JSON has them: every key present, null where undefined.
#pragma once

#include <nlohmann/json.hpp>

#include "core/report/diff.h"

namespace octavo::report {

nlohmann::ordered_json ToJson(const ValueReport& value);

// The number, or null.
template <class T>
nlohmann::ordered_json OrNull(const std::optional<T>& figure) {
  return figure ? nlohmann::ordered_json(*figure) : nlohmann::ordered_json(nullptr);
}

}  // namespace octavo::report
