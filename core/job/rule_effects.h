// SPDX-License-Identifier: Apache-2.0
// Measures the effect of each rewrite rule of a job on its outputs: runs the graph before and after
// each run of rules on the samples and compares its outputs with the previous ones and with the
// baseline's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/batches.h"
#include "core/job/replay.h"
#include "octavo/v1/report.pb.h"

namespace octavo::job {

class RuleEffects {
 public:
  using Batch = ir::Batches::Batch;

  // `batches` holds the inputs of the baseline; it must outlive this object.
  RuleEffects(const ir::Batches& batches, ThreadPool& pool, const StopToken& stop)
      : batches_(batches), pool_(pool), stop_(stop) {}

  // `baseline` is the float graph that the SQNR compares with.  `graph` is the integer graph before
  // the first rule; it runs in the mode `numerics`.
  Status Begin(const ir::Graph& baseline, const ir::Graph& graph, const numerics::Mode* numerics);

  // `graph` is the graph after the run; ignored if the run is not measured.  A bit that an exact
  // run changes is not an error here: the row and `violation` report it.
  Status Add(const RuleRun& run, const ir::Graph& graph, Granularity granularity);

  // kInvalidArgument if the outputs of `given` differ from those of the last run's graph.
  Status CheckSame(const ir::Graph& given) const;

  // One row per run.
  const std::vector<v1::RuleRun>& rows() const { return rows_; }
  // Describes the first exact run that changed a bit; empty if there is none.
  const std::string& violation() const { return violation_; }

 private:
  // The outputs of a graph for all samples, as real values.
  struct Outcomes {
    std::vector<std::vector<ir::Tensor>> outputs = {};  // [batch][output]
    std::vector<std::string> names = {};
    std::vector<std::optional<float>> steps = {};  // LSB of each output that has a single scale
  };
  struct Change {
    int64_t elements = 0, changed = 0;
    double most = 0;  // as a real number
  };

  Result<Outcomes> Execute(const ir::Graph& graph) const;
  Result<Outcomes> ExecuteBaseline(const ir::Graph& graph) const;
  Batch InputsOf(const ir::Graph& graph, const Batch& batch) const;
  void Append(const ir::Graph& graph, std::vector<ir::Tensor> outputs, Outcomes& outcomes) const;
  Status CheckOutputs(const Outcomes& outcomes) const;
  static Change Compare(const Outcomes& was, const Outcomes& is, size_t output);
  std::optional<double> Sqnr(const Outcomes& is, size_t output) const;
  v1::OutputChange ChangeOf(const Outcomes& now, size_t output) const;
  void NoteViolation(const v1::RuleRun& row, const RuleRun& run, const v1::OutputChange& change);

  const ir::Batches& batches_;
  ThreadPool& pool_;
  const StopToken& stop_;
  const numerics::Mode* numerics_ = &numerics::kOnnx;
  Outcomes baseline_, last_;
  std::string violation_;
  std::vector<v1::RuleRun> rows_;
};

}  // namespace octavo::job
