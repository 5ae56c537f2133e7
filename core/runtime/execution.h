// One run of a plan, taken step by step by its caller.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/graph.h"

namespace octavo::runtime {

struct StepProfile {
  std::string node = {}, op = {}, kernel = {}, isa = {};
  double begin = 0;  // seconds since the run's first step began
  double seconds = 0;
  double operations = 0;  // a multiply-add is two
};

struct Program;
class Workspaces;

// The plan must outlive its runs; several may go on at once.
class Execution {
 public:
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) noexcept;
  ~Execution();

  bool done() const;
  // The values that the next step will compute: none where it only changes a layout.
  std::vector<ir::ValueId> next() const;
  Status Step(const StopToken& stop);
  // A value that the last step computed, in the graph's own layout and with codes as stored; valid
  // until the next call.
  const ir::Tensor& Value(ir::ValueId value);
  // Readers of a value that the last step computed get these elements, given in the graph's own
  // layout.  A value that is the same in every run stays as it is.  Only where the plan keeps all
  // values.
  void Replace(ir::ValueId value, const ir::Tensor& elements);
  // Of a run that is done.
  std::vector<ir::Tensor> outputs() const;

 private:
  friend class Plan;
  struct State;
  explicit Execution(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace octavo::runtime
