// SPDX-License-Identifier: Apache-2.0
// Limits of a model.  Models are untrusted: a few hundred bytes can describe terabytes of values.
// A job refuses such a model before it computes anything.
#pragma once

#include <cstdint>

#include "core/ir/graph.h"

namespace octavo::job {

struct ModelLimits {
  int64_t nodes = 200'000;                 // 0: no limit
  int64_t value_bytes = int64_t{1} << 30;  // per computed value; 0: no limit
  int64_t samples_bytes = 0;               // of all samples that are drawn; 0: no limit
  int64_t memory_bytes = 0;                // estimated for the job: memory_estimate.h; 0: no limit
};

// Fails with kTooLarge and the name of the node whose result exceeds `limits`.  Constants of the
// model's file do not count.
Status CheckValueBytes(const ir::Graph& graph, const ModelLimits& limits);

}  // namespace octavo::job
