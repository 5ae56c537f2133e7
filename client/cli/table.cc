// SPDX-License-Identifier: Apache-2.0
#include "client/cli/table.h"

#include <algorithm>

namespace octavo::cli {
namespace {

// Characters, not bytes: those of UTF-8 that do not continue one.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool IsNumber(const std::string& text) {
  return text.find_first_not_of("0123456789.-") == std::string::npos;
}

}  // namespace

std::string Table::Text(size_t indent) const {
  struct Column {
    size_t width = 0;
    bool numbers = true;
    bool cells = false;
  };
  std::vector<Column> columns;
  for (const auto& row : rows_) {
    if (columns.size() < row.size()) columns.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      columns[i].width = std::max(columns[i].width, WidthOf(row[i]));
      if (&row == &rows_.front()) continue;
      columns[i].numbers &= IsNumber(row[i]);
      columns[i].cells |= !row[i].empty();
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(columns[i].width - WidthOf(row[i]), ' ');
      const bool right = columns[i].numbers && columns[i].cells;
      line += (right ? blanks + row[i] : row[i] + blanks) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace octavo::cli
