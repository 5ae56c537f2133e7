// SPDX-License-Identifier: Apache-2.0
// Runs the float executor over samples and notes range and histogram of every real value, by
// its original name.
#pragma once

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/float_exec/kept_values.h"
#include "core/ir/graph.h"
#include "core/profile/profile.h"

namespace octavo::profile {

struct CollectOptions {
  std::string model_digest = {};
  int64_t samples = 0;  // how many samples the batches hold
  // Called after each batch with how many are done.
  std::function<void(int64_t done, int64_t total)> progress = {};
  // Gets a copy of its `values` for each batch; may be null.
  float_exec::KeptValues* kept = nullptr;
};

// `graph` is prepared and float; each batch holds one tensor per graph input.  kInvalidArgument
// where a batch does not fit the graph.
Result<Profile> Collect(const ir::Graph& graph, const std::vector<std::vector<ir::Tensor>>& batches,
                        const CollectOptions& options, ThreadPool& pool, const StopToken& stop);

}  // namespace octavo::profile
