// SPDX-License-Identifier: Apache-2.0
// Outcomes counted per operator, and the unexpected ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/peers/onnx_data/trial.h"

namespace octavo::onnx_data {

class Table {
 public:
  explicit Table(std::map<std::string, std::string> unsupported)
      : unsupported_(std::move(unsupported)) {}

  void Add(const Case& entry, const Outcome& outcome);
  // Prints unexpected outcomes, the table, and the totals in the last line.  Returns whether all is
  // well: nothing failed or crashed, and exactly the listed cases are unsupported or refused.
  bool Print(bool all_cases_ran);

 private:
  struct Row {
    int passed = 0, unsupported = 0, refused = 0, failed = 0, crashed = 0;

    int& Of(Verdict verdict);
  };

  std::map<std::string, std::string> unsupported_;
  std::map<std::string, Row> rows_;
  Row total_;
  std::vector<std::string> complaints_;
  std::map<std::string, int> reasons_;
};

}  // namespace octavo::onnx_data
