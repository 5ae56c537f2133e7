// SPDX-License-Identifier: Apache-2.0
// A warning of a job, and the table of warning codes (warnings.def).
#pragma once

#include <string>
#include <string_view>

namespace octavo::ir {

struct WarningRow {
  std::string_view code = {};
  std::string_view text = {};  // what every warning of that code says
};

inline constexpr WarningRow kWarningRows[] = {
#define OCTAVO_WARNING(code, text) {#code, text},
#include "core/ir/warnings.def"
#undef OCTAVO_WARNING
};

// Null for a code that the table lacks.
constexpr const WarningRow* FindWarning(std::string_view code) {
  for (const WarningRow& row : kWarningRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

// Not defined: a constant expression cannot call it, and the error names it.
void TheCodeIsMissingInWarningsDef();

// A row of the table.  A literal converts to it; one that the table lacks does not compile.
class WarningCode {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is a code.
  consteval WarningCode(const char* code) : row_(FindWarning(code)) {
    if (row_ == nullptr) TheCodeIsMissingInWarningsDef();
  }
  explicit constexpr WarningCode(const WarningRow& row) : row_(&row) {}

  constexpr std::string_view name() const { return row_->code; }
  bool operator==(const WarningCode&) const = default;

 private:
  const WarningRow* row_;
};

struct Warning {
  WarningCode code;
  std::string message = {};
  std::string node = {};
};

}  // namespace octavo::ir
