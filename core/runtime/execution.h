// SPDX-License-Identifier: Apache-2.0
// One run of a plan; its caller executes it step by step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/graph.h"

namespace octavo::runtime {

struct StepProfile {
  std::string node = {}, op = {}, kernel = {}, isa = {};
  double begin = 0;  // seconds since the start of the run's first step
  double seconds = 0;
  double operations = 0;  // a multiply-add counts as two
};

struct Program;
class Workspaces;

// The plan must outlive its runs; several runs may be active at once.
class Execution {
 public:
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) noexcept;
  ~Execution();

  bool done() const;
  // The values that the next step computes; empty if it only converts a layout.
  std::vector<ir::ValueId> next() const;
  Status Step(const StopToken& stop);
  // A value that the last step computed, in the graph's layout; a quantized one as stored integers.
  // Valid until the next call.
  const ir::Tensor& Value(ir::ValueId value);
  // Replaces a value that the last step computed by `elements`, in the graph's layout, for all
  // later steps.  Has no effect on a constant.  Requires a plan that keeps all values.
  void Replace(ir::ValueId value, const ir::Tensor& elements);
  // Requires done().
  std::vector<ir::Tensor> outputs() const;

 private:
  friend class Plan;
  struct State;
  explicit Execution(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace octavo::runtime
