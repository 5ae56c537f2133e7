// SPDX-License-Identifier: Apache-2.0
// Growth of the passes' time with the graph: passes_growth [MOST_NODES [MOST_EXPONENT]].  Prints,
// for graphs of 1k, 4k, 16k and 64k nodes, the processor seconds of each pass (the least of several
// runs); then the exponent of the growth over all sizes (by least squares) and over the last two
// sizes. Exponent 1 is linear.  "building" is the time of making, copying and verifying the graph:
// linear work, whose exponent exceeds 1 by what larger graphs lose to caches and page faults.  With
// MOST_EXPONENT it fails if the exponent of all passes together, less what "building" has above 1,
// exceeds the limit in each of three attempts, so a busy machine does not cause a failure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "core/ops/op_table.h"
#include "core/passes/passes.h"
#include "core/profile/collect.h"
#include "tests/support/random_inputs.h"

namespace octavo {
namespace {

using ir::Graph;
using ir::ValueId;

// Blocks of a residual and of Concats whose operands have other consumers.  Every value has its own
// quantization parameters.  Hence Rescales arise at all operands of a Concat, below a MaxPool and
// above a Slice, and the passes must find out which of them are avoidable.
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

  ValueId Drawn(const ir::Shape& shape, float most) {
    ir::Tensor drawn(ir::DType::kF32, shape);
    for (float& element : drawn.mutable_values<float>()) {
      element = static_cast<float>(std::sin(static_cast<double>(++drawn_))) * most;
    }
    return graph_.AddConstant(fmt::format("w{}", drawn_), std::move(drawn));
  }
  ValueId Conv(ValueId x, int64_t channels) {
    return Add("Conv", {x, Drawn({channels, graph_.type(x).shape[1], 1, 1}, 0.6f)});
  }

  ValueId Slice(ValueId x, int64_t from, int64_t to) {
    const auto ints = [&](int64_t value) {
      return graph_.AddConstant(fmt::format("c{}", ++drawn_), ir::Tensor::Ints({value}));
    };
    const ValueId begin = ints(from), end = ints(to), axis = ints(1);
    return Add("Slice", {x, begin, end, axis});
  }
  ValueId Concat(std::vector<ValueId> values) {
    return Add("Concat", std::move(values), {{"axis", int64_t{1}}});
  }

  ValueId Block(ValueId x) {
    const ValueId inner = Conv(Add("Relu", {Conv(x, 2)}), 2);
    const ValueId sum = Add("Relu", {Add("Add", {inner, x})});
    const ValueId pool = Add("MaxPool", {sum}, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
    const ValueId both = Concat({pool, inner});
    const ValueId more = Concat({Slice(both, 1, 3), sum, Conv(both, 1)});
    // Tanh bounds the values, and adding the constant keeps them from vanishing.
    return Add("Add", {Add("Tanh", {Conv(Concat({more, inner}), 2)}), Drawn({1, 2, 2, 2}, 1.5f)});
  }

  Graph graph_;
  int64_t drawn_ = 0;
};

using Seconds = std::map<std::string, double>;

// Processor time: other processes affect it less than wall-clock time.
double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Result<Seconds> MeasureOnce(int64_t nodes, passes::PlacementFigures& placement) {
  ThreadPool pool(1);
  Seconds seconds;
  const double begin = ProcessorSeconds();
  Graph graph = Network().Make(nodes);
  OCTAVO_CHECK(ir::Verify(Graph(graph)));
  seconds["building"] = ProcessorSeconds() - begin;
  passes::Settings settings;
  OCTAVO_TRY(settings.target, target::BuiltIn("cpu-int8"));
  settings.pool = &pool;
  settings.options.own_parameters = true;
  passes::Findings findings;
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
  placement = findings.placement;
  return seconds;
}

// The least time of several runs; of more runs if they are short.
Result<Seconds> Measure(int64_t nodes, passes::PlacementFigures& placement) {
  const int64_t runs = 3 + std::min<int64_t>(16, 16384 / nodes);
  Seconds least;
  for (int64_t i = 0; i < runs; ++i) {
    OCTAVO_TRY(const Seconds once, MeasureOnce(nodes, placement));
    for (const auto& [name, seconds] : once) {
      const auto [at, added] = least.emplace(name, seconds);
      if (!added) at->second = std::min(at->second, seconds);
    }
  }
  return least;
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

struct Table {
  std::vector<double> sizes = {};
  std::map<std::string, std::vector<double>> seconds = {};  // by pass
  std::vector<passes::PlacementFigures> placements = {};
};

Result<Table> MeasureAll(int64_t most) {
  Table table;
  for (int64_t nodes = 1024; nodes <= most; nodes *= 4) {
    OCTAVO_TRY(const Seconds seconds, Measure(nodes, table.placements.emplace_back()));
    table.sizes.push_back(static_cast<double>(nodes));
    for (const auto& [name, value] : seconds) table.seconds[name].push_back(value);
  }
  return table;
}

void Print(const Table& table) {
  fmt::print("{:<18}", "nodes");
  for (const double nodes : table.sizes) fmt::print("{:>10}", nodes);
  fmt::print("{:>10}{:>10}\n", "exponent", "last step");
  for (const auto& [name, seconds] : table.seconds) {
    fmt::print("{:<18}", name);
    for (const double value : seconds) fmt::print("{:>10.4f}", value);
    if (table.sizes.size() > 1) {
      const std::span<const double> nodes(table.sizes), values(seconds);
      fmt::print("{:>10.2f}{:>10.2f}", Exponent(nodes, values),
                 Exponent(nodes.last(2), values.last(2)));
    }
    fmt::print("\n");
  }
  const auto print_rescales = [&](std::string_view when, const auto& total) {
    fmt::print("{:<18}", when);
    for (const passes::PlacementFigures& placement : table.placements) {
      fmt::print("{:>10}", (placement.*total).count);
    }
    fmt::print("\n");
  };
  print_rescales("Rescales before", &passes::PlacementFigures::before);
  print_rescales("greedy", &passes::PlacementFigures::greedy);
  print_rescales("placed", &passes::PlacementFigures::after);
}

int Main(int64_t most, double most_exponent) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto table = MeasureAll(most);
    if (!table) {
      fmt::print(stderr, "{}\n", table.error().message);
      return 1;
    }
    Print(*table);
    if (most_exponent == 0) return 0;
    const double linear = std::max(1.0, Exponent(table->sizes, table->seconds.at("building")));
    const double exponent = Exponent(table->sizes, table->seconds.at("all")) - (linear - 1);
    fmt::print("all passes grow with exponent {:.2f} without caches, of {} at most\n", exponent,
               most_exponent);
    if (exponent <= most_exponent) return 0;
  }
  return 1;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) {
  return octavo::Main(argc > 1 ? std::atoll(argv[1]) : 65536, argc > 2 ? std::atof(argv[2]) : 0);
}
