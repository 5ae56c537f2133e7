// SPDX-License-Identifier: Apache-2.0
#include "core/job/memory_estimate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "core/profile/moments.h"

namespace octavo::job {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// Measured: tests/bench/README.md.
constexpr int64_t kBase = int64_t{48} << 20;
constexpr int64_t kPerNode = 4 << 10;    // nodes of the graphs that a job holds, ledger, report
constexpr int64_t kPerRange = 16 << 10;  // a value's histograms and figures

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t Sum(int64_t a, int64_t b) { return a > kMost - b ? kMost : a + b; }
int64_t Product(int64_t a, int64_t b) { return b != 0 && a > kMost / b ? kMost : a * b; }

// The bytes of a value as an executor computes it, in floats if it is quantized.
int64_t ExpressedBytes(const ir::Type& type) { return type.Expressed().bytes(); }
// The same, and as it is stored.
int64_t BothBytes(const ir::Type& type) {
  return type.quantized() ? Sum(ExpressedBytes(type), type.bytes()) : type.bytes();
}

// As float_exec::Buffers: memory that was freed serves tensors of half its size and more.
class Pool {
 public:
  int64_t Take(int64_t bytes) {
    const auto at = free_.lower_bound(bytes);
    if (at == free_.end() || at->first / 2 > bytes) {
      held_ = Sum(held_, bytes);
      return bytes;
    }
    const int64_t size = at->first;
    if (--at->second == 0) free_.erase(at);
    return size;
  }
  void Return(int64_t size) { ++free_[size]; }
  int64_t held() const { return held_; }

 private:
  std::map<int64_t, int64_t> free_;  // buffers by size
  int64_t held_ = 0;
};

// Follows both executors through the graph.
class Walk {
 public:
  Walk(const Graph& graph, const MemoryFactors& factors)
      : graph_(graph),
        factors_(factors),
        uses_(graph.value_bound(), 0),
        fixed_(graph.value_bound(), false),
        float_sizes_(graph.value_bound(), 0),
        width_(factors.wide ? 2 : ir::SizeOf(factors.target.activations.front())) {
    for (const NodeId id : graph.nodes()) {
      for (const ValueId input : graph.node(id).inputs) {
        if (input) ++uses_[input.index];
      }
    }
    for (const ValueId output : graph.outputs()) ++uses_[output.index];
    for (size_t i = 0; i < graph.value_bound(); ++i) {
      const ValueId id{static_cast<int32_t>(i)};
      if (!graph.value(id).erased && graph.IsConstant(id)) AddConstant(id);
    }
  }

  MemoryEstimate Run() {
    for (const ValueId input : graph_.inputs()) {
      if (graph_.type(input).dtype == ir::DType::kF32) ++ranges_;
      live_ = Sum(live_, StoredBytes(input, /*stays_float=*/true));
    }
    for (const NodeId id : graph_.nodes()) Visit(id);
    for (const ValueId output : graph_.outputs()) {
      estimate_.outputs = Sum(estimate_.outputs, ExpressedBytes(graph_.type(output)));
    }
    estimate_.float_values = pool_.held();
    return estimate_;
  }
  int64_t ranges() const { return ranges_; }

 private:
  void AddConstant(ValueId id) {
    fixed_[id.index] = true;
    estimate_.constants = Sum(estimate_.constants, ExpressedBytes(graph_.type(id)));
  }

  void Visit(NodeId id) {
    const Node& node = graph_.node(id);
    int64_t bytes = 0;
    for (const ValueId result : node.results) {
      if (!result) continue;
      bytes = Sum(bytes, ExpressedBytes(graph_.type(result)));
      if (graph_.type(result).Expressed().dtype == ir::DType::kF32) ++ranges_;
    }
    if (!estimate_.largest || bytes > estimate_.largest_bytes) {
      estimate_.largest = id;
      estimate_.largest_bytes = bytes;
    }
    const bool fixed = std::ranges::all_of(
        node.inputs, [&](ValueId input) { return !input || fixed_[input.index]; });
    if (fixed) return AddFixed(node);
    RunInFloats(node);
    RunStored(node);
    for (const ValueId input : node.inputs) {
      if (input && --uses_[input.index] == 0) Release(input);
    }
    for (const ValueId result : node.results) {
      if (result && uses_[result.index] == 0) Release(result);
    }
  }

  void AddFixed(const Node& node) {
    for (const ValueId result : node.results) {
      if (!result) continue;
      fixed_[result.index] = true;
      estimate_.fixed = Sum(estimate_.fixed, BothBytes(graph_.type(result)));
    }
  }

  // Quantized operands and results exist in floats while the node runs.
  void RunInFloats(const Node& node) {
    std::vector<int64_t> during;
    const auto express = [&](ValueId id) {
      const ir::Type& type = graph_.type(id);
      if (type.quantized()) during.push_back(pool_.Take(ExpressedBytes(type)));
    };
    for (const ValueId input : node.inputs) {
      if (input && !fixed_[input.index]) express(input);
    }
    for (const ValueId result : node.results) {
      if (!result) continue;
      express(result);
      float_sizes_[result.index] = pool_.Take(graph_.type(result).bytes());
    }
    for (const int64_t size : during) pool_.Return(size);
  }

  void RunStored(const Node& node) {
    const bool stays = StaysFloat(node);
    for (const ValueId result : node.results) {
      if (!result) continue;
      live_ = Sum(live_, StoredBytes(result, stays));
      const ir::Type& type = graph_.type(result);
      const bool integers = factors_.quantizes && !stays && type.dtype == ir::DType::kF32;
      estimate_.conversions = std::max(estimate_.conversions,
                                       integers ? Product(type.elements(), width_) : type.bytes());
    }
    int64_t floats = 0;  // of integer operands
    for (const ValueId input : node.inputs) {
      if (stays && factors_.quantizes && input && !fixed_[input.index]) {
        floats = Sum(floats, graph_.type(input).bytes());
      }
    }
    estimate_.stored_values = std::max(estimate_.stored_values, Sum(live_, floats));
  }

  bool StaysFloat(const Node& node) const {
    return factors_.keeps_floats ||
           factors_.target.QuantOf(graph_, node).kind == ir::QuantRule::Kind::kFloatOnly;
  }

  // A float that is quantized for its consumers, and an output, exist in both forms.
  int64_t StoredBytes(ValueId id, bool stays_float) const {
    const ir::Type& type = graph_.type(id);
    if (!factors_.quantizes || type.dtype != ir::DType::kF32) return type.bytes();
    const int64_t integers = Product(type.elements(), width_);
    return stays_float || graph_.IsOutput(id) ? Sum(type.bytes(), integers) : integers;
  }

  void Release(ValueId id) {
    if (fixed_[id.index]) return;
    const Node* producer = graph_.Producer(id);
    live_ -= std::min(live_, StoredBytes(id, producer == nullptr || StaysFloat(*producer)));
    if (float_sizes_[id.index] > 0 && !factors_.holds_floats) pool_.Return(float_sizes_[id.index]);
  }

  const Graph& graph_;
  const MemoryFactors& factors_;
  std::vector<int> uses_;
  std::vector<bool> fixed_;
  std::vector<int64_t> float_sizes_;  // in the pool
  const int64_t width_;
  Pool pool_;
  int64_t live_ = 0;  // stored values
  int64_t ranges_ = 0;
  MemoryEstimate estimate_;
};

int64_t MomentsOf(const Graph& graph) {
  int64_t held = 0, matrix = 0;
  for (const profile::Layer& layer : profile::LayersOf(graph)) {
    if (!profile::HasMoments(layer)) continue;
    held = Sum(held, profile::MomentBytes(layer));
    const int64_t terms = profile::BlocksOf(layer).front().terms;
    matrix = std::max(matrix, terms * terms * static_cast<int64_t>(sizeof(double)));
  }
  return Sum(std::min(held, profile::kMostMomentBytes), matrix);
}

}  // namespace

MemoryEstimate EstimateMemory(const Graph& graph, const MemoryFactors& factors) {
  Walk walk(graph, factors);
  MemoryEstimate estimate = walk.Run();
  estimate.records = Product(graph.node_count(), kPerNode);
  if (factors.runs) {
    estimate.records = Sum(estimate.records, Product(walk.ranges(), kPerRange));
    int64_t batch = 0;
    for (const ValueId input : graph.inputs()) batch = Sum(batch, graph.type(input).bytes());
    // The batch that runs is converted for the integer graph.
    estimate.samples = Product(batch, factors.batches_held + 1);
    if (factors.moment_sets > 0) {
      estimate.moments = Product(MomentsOf(graph), factors.moment_sets);
    }
  } else {
    estimate.float_values = 0;
    estimate.stored_values = 0;
    estimate.outputs = 0;
    estimate.conversions = 0;
    estimate.fixed = std::min(estimate.fixed, factors.fold_budget);
  }
  // The weights exist as packed floats, and in integers for the model and the runtime.  The report
  // runs the optimized graph twice side by side: whole, and node by node.
  const int64_t twice[] = {estimate.constants, estimate.fixed, estimate.stored_values,
                           estimate.outputs, estimate.conversions};
  const int64_t once[] = {kBase,
                          estimate.float_values,
                          estimate.conversions,
                          estimate.samples,
                          estimate.records,
                          estimate.moments,
                          factors.equalizes ? estimate.constants : 0,
                          Product(estimate.outputs, factors.outputs_held)};
  for (const int64_t bytes : twice) estimate.total = Sum(estimate.total, Product(2, bytes));
  for (const int64_t bytes : once) estimate.total = Sum(estimate.total, bytes);
  return estimate;
}

Status CheckMemory(const Graph& graph, const MemoryEstimate& estimate, int64_t most) {
  if (most == 0 || estimate.total <= most) return {};
  const auto too_large = [&](std::string what) {
    return Fail(Code::kTooLarge,
                "the job would need about {} bytes of memory and may use {} (job-memory){}",
                estimate.total, most, what)
        .Reason("JOB_MEMORY")
        .Field("job-memory");
  };
  if (!estimate.largest) return too_large("");
  const Node& node = graph.node(estimate.largest);
  return too_large(fmt::format("; {} '{}' has the largest results, {} bytes", node.op->name,
                               node.name, estimate.largest_bytes))
      .Node(node.name);
}

}  // namespace octavo::job
