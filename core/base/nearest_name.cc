// SPDX-License-Identifier: Apache-2.0
#include "core/base/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace octavo {
namespace {

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

size_t Difference(size_t a, size_t b) { return a > b ? a - b : b - a; }

// The number of edits from `a` to `b`, or a larger number than `most` if there are more.  Row i of
// the table holds the edits from the first i characters of `a` to each beginning of `b`; a swap
// needs the row before the last.
size_t EditsBetween(std::string_view a, std::string_view b, size_t most) {
  if (Difference(a.size(), b.size()) > most) return most + 1;
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
                           Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    // Edits never become fewer from one row to the next but for a swap, which costs one.
    if (least > most + 1) return most + 1;
    before_last = std::move(last);
    last = std::move(row);
    row.assign(b.size() + 1, 0);
  }
  return last[b.size()];
}

}  // namespace

std::string_view NearestName(std::string_view word, std::span<const std::string_view> names) {
  std::string_view nearest;
  size_t most = std::max<size_t>(1, word.size() / 3);
  for (const std::string_view name : names) {
    if (name.empty()) continue;
    const size_t edits = EditsBetween(word, name, most);
    if (edits > most || edits >= name.size()) continue;
    nearest = name;
    if (edits == 0) break;
    most = edits - 1;  // later names must be nearer
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view nearest = NearestName(word, names);
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

std::string DidYouMean(std::string_view word, std::span<const std::string> names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return DidYouMean(word, views);
}

}  // namespace octavo
