// SPDX-License-Identifier: Apache-2.0
#include "tests/peers/onnx_data/table.h"

namespace octavo::onnx_data {

int& Table::Row::Of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return passed;
    case Verdict::kUnsupported:
      return unsupported;
    case Verdict::kRefused:
      return refused;
    case Verdict::kFailed:
      return failed;
    case Verdict::kCrashed:
      return crashed;
  }
  return crashed;
}

void Table::Add(const Case& entry, const Outcome& outcome) {
  ++rows_[entry.label].Of(outcome.verdict);
  ++total_.Of(outcome.verdict);
  const auto listed = unsupported_.find(entry.name);
  const bool expected = listed != unsupported_.end();
  const auto complain = [&](std::string_view what) {
    complaints_.push_back(
        fmt::format("{} ({}): {}: {}", entry.name, entry.label, what, outcome.message));
  };
  switch (outcome.verdict) {
    case Verdict::kPassed:
      if (expected) complain("is listed as unsupported, but passes; take it off the list");
      break;
    case Verdict::kUnsupported:
      if (!expected) complain("is not listed as unsupported");
      if (expected) ++reasons_[listed->second];
      break;
    case Verdict::kRefused:
      if (!expected) complain("is refused as invalid");
      if (expected) ++reasons_[listed->second];
      break;
    case Verdict::kFailed:
      complain("failed");
      break;
    case Verdict::kCrashed:
      complain("crashed");
      break;
  }
  if (expected) unsupported_.erase(listed);
}

bool Table::Print(bool all_cases_ran) {
  if (all_cases_ran) {
    for (const auto& [name, reason] : unsupported_) {
      complaints_.push_back(fmt::format("{}: is listed as unsupported, but is no case", name));
    }
  }
  fmt::print("{:<28} {:>7} {:>12} {:>8} {:>7} {:>8}\n", "operator", "passed", "unsupported",
             "refused", "failed", "crashed");
  for (const auto& [label, row] : rows_) {
    fmt::print("{:<28} {:>7} {:>12} {:>8} {:>7} {:>8}\n", label, row.passed, row.unsupported,
               row.refused, row.failed, row.crashed);
  }
  if (!reasons_.empty()) fmt::print("\nunsupported, by reason\n");
  for (const auto& [reason, count] : reasons_) fmt::print("{:>6}  {}\n", count, reason);
  if (!complaints_.empty()) fmt::print("\n");
  for (const std::string& complaint : complaints_) fmt::print("{}\n", complaint);
  fmt::print("\n{} passed, {} unsupported, {} refused, {} failed, {} crashed; {} complaints\n",
             total_.passed, total_.unsupported, total_.refused, total_.failed, total_.crashed,
             complaints_.size());
  return complaints_.empty();
}

}  // namespace octavo::onnx_data
