// SPDX-License-Identifier: Apache-2.0
// Runs one quantized graph in two numerics modes on the same samples and counts the differences of
// every value.  This shows where the results of two targets differ and which node causes it.
#pragma once

#include "core/base/stop_token.h"
#include "core/ir/batches.h"
#include "core/ir/graph.h"
#include "core/numerics/mode_table.h"
#include "octavo/v1/report.pb.h"

namespace octavo::report {

// kUnimplemented, with the name of the node, if one of the modes does not define the node's op.
Result<v1::ModeComparison> CompareModes(const ir::Graph& graph, const ir::Batches& batches,
                                        const numerics::Mode* numerics,
                                        const numerics::Mode* against, ThreadPool& pool,
                                        const StopToken& stop);

}  // namespace octavo::report
