// The preparation that comes before profiling and before quantizing, the same for both, so that
// both see the same values under the same names.
#pragma once

#include "core/passes/pass.h"

namespace octavo::job {

// The passes of the pipeline from `first` (empty: the beginning) up to `end` (empty: the last).
std::vector<const passes::Pass*> PassesBetween(std::string_view first, std::string_view end);

inline constexpr std::string_view kFirstTargetPass = "lower";

// Runs the passes before the first that depends on a target.
Status PrepareFloat(ir::Graph& graph, ThreadPool& pool, const StopToken& stop);

}  // namespace octavo::job
