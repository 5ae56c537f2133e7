// What the laws of a job did to its outputs: runs the graph before and after each run of rules on
// the samples, and compares its outputs with those before and with a reference's.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/job/replay.h"

namespace octavo::job {

class RuleEffects {
 public:
  using Batch = std::vector<ir::Tensor>;

  // `batches` hold the inputs as the reference takes them; they must outlive this object.
  RuleEffects(const std::vector<Batch>& batches, ThreadPool& pool, const StopToken& stop)
      : batches_(batches), pool_(pool), stop_(stop) {}

  // The graph whose outputs, by the reference's reading, the SQNR is against, and the one that no
  // law has been applied to yet, which runs in the numerics mode.
  Status Begin(const ir::Graph& reference, const ir::Graph& graph, const std::string& numerics);

  // `graph` is as the run left it (not looked at where the run is not measured).  A bit that an
  // exact run changes is not an error here: the row says so, and so does `violation`.
  Status Add(const RuleRun& run, const ir::Graph& graph, Granularity granularity);

  // kInvalidArgument where `given` has other outputs than the graph of the last run.
  Status CheckSame(const ir::Graph& given) const;

  // One object for each run; its keys are those of octavo.v1.RuleRun.
  const nlohmann::ordered_json& Json() const { return json_; }
  // What the first exact run that changed a bit did; empty if none did.
  const std::string& violation() const { return violation_; }

 private:
  // What a graph gives for all samples, in reals.
  struct Outcomes {
    std::vector<std::vector<ir::Tensor>> outputs = {};  // [batch][output]
    std::vector<std::string> names = {};
    std::vector<std::optional<float>> steps = {};  // of each output's codes, if it has one scale
  };
  struct Change {
    int64_t elements = 0, changed = 0;
    double most = 0;  // in reals
  };

  Result<Outcomes> Execute(const ir::Graph& graph) const;
  Result<Outcomes> ExecuteReference(const ir::Graph& graph) const;
  Batch AsTaken(const ir::Graph& graph, const Batch& batch) const;
  void Append(const ir::Graph& graph, std::vector<ir::Tensor> outputs, Outcomes& outcomes) const;
  Status CheckOutputs(const Outcomes& outcomes) const;
  static Change Compare(const Outcomes& was, const Outcomes& is, size_t output);
  std::optional<double> Sqnr(const Outcomes& is, size_t output) const;
  nlohmann::ordered_json OutputsJson(const RuleRun& run, const Outcomes& now);

  const std::vector<Batch>& batches_;
  ThreadPool& pool_;
  const StopToken& stop_;
  std::string numerics_;
  Outcomes real_, last_;
  std::string violation_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

}  // namespace octavo::job
