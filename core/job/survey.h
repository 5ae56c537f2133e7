// Counts and lists that the report takes from a graph as it stands.
#pragma once

#include "core/job/report_json.h"

namespace octavo::job {

RescaleFigures CountRescales(const ir::Graph& graph);
// Nodes of reals that are not computed in integers, with the passes' reason.
std::vector<passes::FloatNode> FloatNodes(const ir::Graph& graph, const passes::Findings& findings);
// The first node whose op is a target's own: only the target knows what it computes.  Or null.
const ir::Node* WithoutMeaning(const ir::Graph& graph);
// One entry for each Rescale that is left, with the last reason that a pass gave.
std::vector<passes::Kept> KeptRescales(const ir::Graph& graph, const passes::Findings& findings);
// Warns of Rescales that ONNX Runtime would rewrite unless told not to.
void WarnOfDoubleQdq(const ir::Graph& graph, std::vector<passes::Warning>& warnings);
// Which entries of a profile the graph knows; constants and fused values count.
ProfileFigures MatchProfile(const ir::Graph& graph, const profile::Profile& profile);

bool HasQuantizedValues(const ir::Graph& graph);
// Whether any value that samples decide is f32: only of those a profile holds ranges.
bool ComputesReals(const ir::Graph& graph);

}  // namespace octavo::job
