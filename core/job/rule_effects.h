// SPDX-License-Identifier: Apache-2.0
// The effect of each rewrite rule of a job on its outputs: runs the graph before and after each run
// of rules on the samples, and compares its outputs with those before and with the baseline's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/job/replay.h"
#include "octavo/v1/report.pb.h"

namespace octavo::job {

class RuleEffects {
 public:
  using Batch = std::vector<ir::Tensor>;

  // `batches` hold the inputs of the baseline; they must outlive this object.
  RuleEffects(const std::vector<Batch>& batches, ThreadPool& pool, const StopToken& stop)
      : batches_(batches), pool_(pool), stop_(stop) {}

  // The float graph that the SQNR is measured against, and the integer graph before the first rule,
  // which runs in the numerics mode.
  Status Begin(const ir::Graph& baseline, const ir::Graph& graph, const numerics::Mode* numerics);

  // `graph` is the graph after the run; it is ignored if the run is not measured.  A bit changed by
  // an exact run is no error here: it is recorded in the row and in `violation`.
  Status Add(const RuleRun& run, const ir::Graph& graph, Granularity granularity);

  // kInvalidArgument if `given` has other outputs than the graph of the last run.
  Status CheckSame(const ir::Graph& given) const;

  // One row for each run.
  const std::vector<v1::RuleRun>& rows() const { return rows_; }
  // Describes the first exact run that changed a bit; empty if none did.
  const std::string& violation() const { return violation_; }

 private:
  // The outputs of a graph for all samples, as real values.
  struct Outcomes {
    std::vector<std::vector<ir::Tensor>> outputs = {};  // [batch][output]
    std::vector<std::string> names = {};
    std::vector<std::optional<float>> steps = {};  // LSB of each output, if it has one scale
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

  const std::vector<Batch>& batches_;
  ThreadPool& pool_;
  const StopToken& stop_;
  const numerics::Mode* numerics_ = &numerics::kOnnx;
  Outcomes baseline_, last_;
  std::string violation_;
  std::vector<v1::RuleRun> rows_;
};

}  // namespace octavo::job
