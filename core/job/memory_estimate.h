// SPDX-License-Identifier: Apache-2.0
// Estimates the memory of a job from its imported graph, before anything is computed.  A model of a
// few hundred bytes can describe gigabytes of values; the sizes of the request's files do not tell.
#pragma once

#include <cstdint>

#include "core/ir/graph.h"
#include "core/target/target.h"

namespace octavo::job {

// What of a job decides its memory, besides the graph.
struct MemoryFactors {
  bool runs = false;          // computes the graph's values: it has samples or a profile
  bool quantizes = false;     // converts the float graph to integers
  bool keeps_floats = false;  // some nodes stay float on request
  int64_t batches_held = 0;   // batches of samples in memory at the same time
  int64_t fold_budget = 0;    // bytes of constants that passes may compute
  int64_t moment_sets = 0;    // that are held of the layers' moments
  bool wide = false;          // some activations have 16 bits
  bool equalizes = false;     // constants are scaled, and those of the model kept
  bool holds_floats = false;  // all values of a float run are in memory together
  int64_t outputs_held = 0;   // batches whose float outputs are in memory at the same time
  const target::Target& target;
};

// In bytes.  Sums saturate.
struct MemoryEstimate {
  int64_t total = 0;          // of the job, in addition to the blobs of its request
  int64_t constants = 0;      // as floats
  int64_t fixed = 0;          // values that depend only on constants: they stay for the whole run
  int64_t float_values = 0;   // largest set that the float executor holds, with reusable memory
  int64_t stored_values = 0;  // largest set that a run of the optimized graph holds
  int64_t outputs = 0;        // the graph's, as floats
  int64_t conversions = 0;    // between layouts and for comparisons
  int64_t samples = 0;
  int64_t moments = 0;  // of layers, and a matrix of them while weights are rounded
  int64_t records = 0;  // what passes, profile and report keep for each node and value
  // The node with the largest results, and their bytes.  Invalid in a graph without nodes.
  ir::NodeId largest = {};
  int64_t largest_bytes = 0;
};

MemoryEstimate EstimateMemory(const ir::Graph& graph, const MemoryFactors& factors);

// kTooLarge with reason JOB_MEMORY and the largest node if the estimate exceeds `most`; 0: no
// limit.
Status CheckMemory(const ir::Graph& graph, const MemoryEstimate& estimate, int64_t most);

}  // namespace octavo::job
