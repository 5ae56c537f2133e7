// How the time of the passes grows with the graph: passes_growth [MOST_NODES].  Prints the
// processor seconds of each pass (medians) for graphs of 1k, 4k, 16k and 64k nodes, the exponent
// of the growth over all sizes (by least squares) and that of the last step; 1 is linear.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
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

// What others do on the machine counts less than it would on the clock.
double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Result<Seconds> MeasureOnce(int64_t nodes) {
  ThreadPool pool(1);
  Graph graph = Network().Make(nodes);
  passes::Settings settings;
  OCTAVO_TRY(settings.target, target::BuiltIn("cpu-int8"));
  settings.pool = &pool;
  passes::Findings findings;
  Seconds seconds;
  const auto run = [&](passes::RunOptions options) -> Status {
    double before = ProcessorSeconds();
    options.after_pass = [&](const passes::PassRecord& record, const Graph&) {
      const double now = ProcessorSeconds();
      seconds[record.name] += now - before;
      seconds["all"] += now - before;
      before = now;
    };
    OCTAVO_CHECK(passes::RunPipeline(passes::AllPasses(), options, settings, graph, findings));
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

// The medians of several runs, of more where each is short.
Result<Seconds> Measure(int64_t nodes) {
  const int64_t runs = 3 + 2 * std::min<int64_t>(16, 16384 / nodes);
  std::map<std::string, std::vector<double>> all;
  for (int64_t i = 0; i < runs; ++i) {
    OCTAVO_TRY(const Seconds once, MeasureOnce(nodes));
    for (const auto& [name, seconds] : once) all[name].push_back(seconds);
  }
  Seconds medians;
  for (auto& [name, seconds] : all) {
    std::ranges::nth_element(seconds, seconds.begin() + runs / 2);
    medians[name] = seconds[runs / 2];
  }
  return medians;
}

// The slope of log(seconds) over log(nodes).
double Exponent(std::span<const double> nodes, std::span<const double> seconds) {
  double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
  const auto count = static_cast<double>(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    mean_x += std::log(nodes[i]) / count;
    mean_y += std::log(seconds[i]) / count;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    xy += (std::log(nodes[i]) - mean_x) * (std::log(seconds[i]) - mean_y);
    xx += (std::log(nodes[i]) - mean_x) * (std::log(nodes[i]) - mean_x);
  }
  return xy / xx;
}

int Main(int64_t most) {
  std::vector<double> sizes;
  std::map<std::string, std::vector<double>> measured;
  for (int64_t nodes = 1024; nodes <= most; nodes *= 4) {
    const auto seconds = Measure(nodes);
    if (!seconds) {
      fmt::print(stderr, "{}\n", seconds.error().message);
      return 1;
    }
    sizes.push_back(static_cast<double>(nodes));
    for (const auto& [name, value] : *seconds) measured[name].push_back(value);
  }
  fmt::print("{:<18}", "nodes");
  for (const double nodes : sizes) fmt::print("{:>10}", nodes);
  fmt::print("{:>10}{:>10}\n", "exponent", "last step");
  for (const auto& [name, seconds] : measured) {
    fmt::print("{:<18}", name);
    for (const double value : seconds) fmt::print("{:>10.4f}", value);
    if (sizes.size() > 1) {
      const std::span<const double> nodes(sizes), values(seconds);
      fmt::print("{:>10.2f}{:>10.2f}", Exponent(nodes, values),
                 Exponent(nodes.last(2), values.last(2)));
    }
    fmt::print("\n");
  }
  return 0;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) { return octavo::Main(argc > 1 ? std::atoll(argv[1]) : 65536); }
