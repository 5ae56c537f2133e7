// SPDX-License-Identifier: Apache-2.0
// Runs the float executor on samples and records the range and the histogram of every float value
// under its original name.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/float_exec/kept_values.h"
#include "core/ir/batches.h"
#include "core/ir/graph.h"
#include "core/profile/moments.h"
#include "core/profile/profile.h"

namespace octavo::profile {

// What the even and the odd batches give apart.
struct Halves {
  Profile even = {};                   // of the batches 0, 2, 4, ..
  MomentCollector* moments = nullptr;  // sees their values; may be null
  int64_t kept_odd = 0;                // so many of the others have their outputs kept, at most
  std::vector<std::vector<ir::Tensor>> outputs = {};  // of these, the graph's
};

struct CollectOptions {
  std::string model_digest = {};
  int64_t samples = 0;  // number of samples in all batches
  // Called after each batch with the number of finished batches.
  std::function<void(int64_t done, int64_t total)> progress = {};
  // Receives a copy of its `values` for each batch; may be null.
  float_exec::KeptValues* kept = nullptr;
  // Sees every value, too; may be null.
  MomentCollector* moments = nullptr;
  Halves* halves = nullptr;  // receives its figures; may be null
  // By value, the axis whose channels get ranges of their own; -1: none.  Empty: none at all.
  std::span<const int> channel_axes = {};
};

// `graph` is a prepared float graph; each batch has one tensor per graph input.  kInvalidArgument
// if a batch does not fit the graph.
Result<Profile> Collect(const ir::Graph& graph, const ir::Batches& batches,
                        const CollectOptions& options, ThreadPool& pool, const StopToken& stop);

// Runs the graph once more and collects the moments of these layers alone.
Result<MomentSource::Map> CollectMoments(const ir::Graph& graph, const ir::Batches& batches,
                                         std::span<const Layer> layers, ThreadPool& pool,
                                         const StopToken& stop);

}  // namespace octavo::profile
