// SPDX-License-Identifier: Apache-2.0
// Step 3 of a plan: chooses the memory layout of each group's images, and inserts conversions and
// copies of lazy views if a consumer needs a value in a layout that does not exist yet.
#pragma once

#include "core/runtime/plan/group.h"

namespace octavo::runtime {

struct ScheduledStep {
  enum class Kind { kGroup, kConvert, kCopyView };
  Kind kind = Kind::kGroup;
  size_t group = 0;                   // kGroup: index in Grouping::groups
  ir::ValueId value = {};             // kConvert, kCopyView: the value to store in layout `to`
  Layout from = Layout::kPlain;       // kConvert: of the value; kCopyView: of the view's base
  Layout to = Layout::kPlain;         // kGroup: of its images
  std::optional<ViewCopy> copy = {};  // kCopyView
};

// In order of execution; a conversion precedes each step that needs a value in another layout.
using Schedule = std::vector<ScheduledStep>;

// Graph inputs and outputs are plain.  A kernel that supports either layout uses channels-last if
// one of its images exists in that layout.
Schedule ChooseLayouts(const ir::Graph& graph, const FixedValues& constants,
                       const Grouping& grouping);

// Prints one line per step that runs, with the layout of a group's images:
//   convert %x to channels-last
//   c1: Conv, channels-last
//   copy %flat from %c1, channels-last to plain
std::string Print(const ir::Graph& graph, const Grouping& grouping, const Schedule& schedule);

}  // namespace octavo::runtime
