// SPDX-License-Identifier: Apache-2.0
// The passes of a job on a random graph, with their certificate.
#pragma once

#include <functional>

#include "core/ir/graph.h"
#include "core/passes/ledger.h"
#include "core/verify/verify.h"

namespace octavo::test {

struct RecordedJob {
  ir::Graph before = {}, after = {};
  verify::Certificate certificate = {};
  passes::Effect limit = passes::Effect::kExact;
};

// A quantized graph for even seeds, a float graph with a profile for odd ones; settings vary.
// `meddle` may change the graph that a pass leaves.
using Meddle = std::function<void(std::string_view pass, ir::Graph& graph)>;
Result<RecordedJob> RecordJob(uint64_t seed, const Meddle& meddle = {});

Result<verify::Verdict> VerifyJob(const RecordedJob& job);

}  // namespace octavo::test
