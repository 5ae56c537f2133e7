// SPDX-License-Identifier: Apache-2.0
// Computes figures of a graph for the report.
#pragma once

#include "core/job/report_json.h"

namespace octavo::job {

// Rescales between different types.
RescaleFigures CountRescales(const ir::Graph& graph);
// Nodes that compute in float, with the reason that a pass recorded.
std::vector<passes::FloatNode> FloatNodes(const ir::Graph& graph, const passes::Findings& findings);
// The first custom op of a target: it has no definition and cannot run.  Null if there is none.
const ir::Node* WithoutMeaning(const ir::Graph& graph);
// Each remaining Rescale, with the last reason that a pass recorded.
std::vector<passes::Kept> KeptRescales(const ir::Graph& graph, const passes::Findings& findings);
// Warns of tests for equality between two computed values of 8 bits: quantizing makes values equal
// that are not, and unequal that are.
void WarnOfQuantizedEqual(const ir::Graph& graph, std::vector<passes::Warning>& warnings);
// Matches the entries of a profile with the names of the graph, constants and fused values
// included.
ProfileFigures MatchProfile(const ir::Graph& graph, const profile::Profile& profile);

// Whether a job with these options would quantize the graph; `graph` is the graph at import.
bool Quantizes(const Options& options, const ir::Graph& graph);
bool HasQuantizedValues(const ir::Graph& graph);
// Whether any value other than a constant is f32; quantization applies only to those.
bool HasFloatValues(const ir::Graph& graph);

}  // namespace octavo::job
