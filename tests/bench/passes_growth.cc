// How the time of the passes grows with the graph: passes_growth [MOST_NODES].  Prints the seconds
// of each pass for 1k, 4k, 16k and 64k nodes and the exponent of the last step; 1 is linear.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

#include "core/ir/infer.h"
#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/profile/collect.h"
#include "tests/support/random_inputs.h"

namespace octavo {
namespace {

using ir::Graph;
using ir::ValueId;

// Residual blocks: Conv, Relu, Conv, Add, Relu, MaxPool of one, Concat of two, Conv back.
class Network {
 public:
  Graph Make(int64_t nodes) {
    ValueId x = graph_.AddInput("x", {ir::DType::kF32, {1, 2, 2, 2}, {}, {}});
    while (graph_.node_count() < nodes) x = Block(x);
    graph_.AddOutput(x);
    return std::move(graph_);
  }

 private:
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, ir::AttrMap attributes = {}) {
    const ir::OpDef* def = ops::FindOp(op);
    const auto types = ir::InferNode(graph_, *def, "n", inputs, attributes);
    const ir::NodeId id =
        graph_.AddNode({.op = def,
                        .inputs = std::move(inputs),
                        .attributes = std::move(attributes),
                        .results = {{fmt::format("v{}", graph_.node_count()), (*types)[0]}}});
    return graph_.node(id).result();
  }

  ValueId Conv(ValueId x, int64_t channels) {
    ir::Tensor w(ir::DType::kF32, {channels, graph_.type(x).shape[1], 1, 1});
    for (float& element : w.mutable_values<float>()) {
      element = static_cast<float>(std::sin(static_cast<double>(++drawn_))) * 0.6f;
    }
    return Add("Conv", {x, graph_.AddConstant(fmt::format("w{}", drawn_), std::move(w))});
  }

  ValueId Block(ValueId x) {
    const ValueId inner = Conv(Add("Relu", {Conv(x, 2)}), 2);
    const ValueId sum = Add("Relu", {Add("Add", {inner, x})});
    const ValueId pool = Add("MaxPool", {sum}, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
    const ValueId both = Add("Concat", {pool, inner}, {{"axis", int64_t{1}}});
    return Add("Tanh", {Conv(both, 2)});  // keeps the values from growing
  }

  Graph graph_;
  int64_t drawn_ = 0;
};

using Seconds = std::map<std::string, double>;

Result<Seconds> Measure(int64_t nodes) {
  ThreadPool pool(1);
  Graph graph = Network().Make(nodes);
  passes::Settings settings;
  OCTAVO_TRY(settings.target, target::BuiltIn("cpu-int8"));
  settings.pool = &pool;
  passes::Findings findings;
  Seconds seconds;
  const auto run = [&](const passes::RunOptions& options) -> Status {
    OCTAVO_TRY(const auto records,
               passes::RunPipeline(passes::AllPasses(), options, settings, graph, findings));
    for (const passes::PassRecord& record : records) {
      seconds[record.name] += record.seconds;
      seconds["all"] += record.seconds;
    }
    return {};
  };
  OCTAVO_CHECK(run({.stop_before = "lower"}));
  OCTAVO_TRY(const profile::Profile profile,
             profile::Collect(graph, {test::RandomInputs(graph, 1)}, {.samples = 1}, pool, {}));
  settings.profile = &profile;
  std::vector<std::string> rest;
  bool begun = false;
  for (const passes::Pass* pass : passes::AllPasses()) {
    begun |= pass->name == "lower";
    if (begun) rest.emplace_back(pass->name);
  }
  OCTAVO_CHECK(run({.only = rest}));
  return seconds;
}

int Main(int64_t most) {
  std::vector<int64_t> sizes;
  std::vector<Seconds> measured;
  for (int64_t nodes = 1024; nodes <= most; nodes *= 4) {
    auto seconds = Measure(nodes);
    if (!seconds) {
      fmt::print(stderr, "{}\n", seconds.error().message);
      return 1;
    }
    sizes.push_back(nodes);
    measured.push_back(*std::move(seconds));
  }
  fmt::print("{:<18}", "nodes");
  for (const int64_t nodes : sizes) fmt::print("{:>10}", nodes);
  fmt::print("{:>10}\n", "exponent");
  for (const auto& [name, last] : measured.back()) {
    fmt::print("{:<18}", name);
    for (Seconds& seconds : measured) fmt::print("{:>10.4f}", seconds[name]);
    if (measured.size() > 1) {
      const double before = measured[measured.size() - 2][name];
      fmt::print("{:>10.2f}", std::log(last / before) / std::log(4.0));
    }
    fmt::print("\n");
  }
  return 0;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) { return octavo::Main(argc > 1 ? std::atoll(argv[1]) : 65536); }
