// SPDX-License-Identifier: Apache-2.0
// How close the outputs of quantized forms of a graph are to the float ones: one figure for each
// form, of runs that compare outputs alone.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/batches.h"
#include "core/ir/graph.h"
#include "core/numerics/mode.h"

namespace octavo::report {

// SQNR beyond this is of no use, and must not make up for a bad output.  Its negative stands for a
// result that is not finite where the float one is.
inline constexpr double kMostScoreDb = 60;

// The outputs of a float graph on some batches.  They are computed once, for any number of forms.
class OutputScores {
 public:
  // `outputs`: of each batch, those of the float graph.
  OutputScores(ir::Batches batches, std::vector<std::vector<ir::Tensor>> outputs)
      : batches_(std::move(batches)), outputs_(std::move(outputs)) {}
  static Result<OutputScores> Create(const ir::Graph& float_graph, const ir::Batches& batches,
                                     ThreadPool& pool, const StopToken& stop);

  // The mean of min(kMostScoreDb, SQNR in dB) over all outputs of all batches that the float graph
  // does not fill with zeros; empty if there are none.  Inputs and outputs of `quantized` are those
  // of the float graph, except for quantization.  `progress` is called after each batch.
  Result<std::optional<double>> Of(const ir::Graph& quantized, const numerics::Mode& mode,
                                   const std::function<void()>& progress, ThreadPool& pool,
                                   const StopToken& stop) const;

 private:
  ir::Batches batches_;
  std::vector<std::vector<ir::Tensor>> outputs_;  // by batch
};

}  // namespace octavo::report
