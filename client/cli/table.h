// SPDX-License-Identifier: Apache-2.0
// A table as text: columns with headings, two blanks apart.
#pragma once

#include <string>
#include <vector>

namespace octavo::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  // Missing cells are empty.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() == 1; }
  // The heading and the rows.  Columns whose cells are all numbers are aligned right.  Lines have
  // no blanks at their end, and begin with `indent` ones.
  std::string Text(size_t indent = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace octavo::cli
