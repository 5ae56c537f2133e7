// SPDX-License-Identifier: Apache-2.0
// First and second moments of a layer's columns (layer.h): what the pass round-weights needs to
// know of the data.
//
//   n = columns,  m_k = sum over columns of x_k,  H_kl = sum over columns of x_k * x_l
//
// H of more than kMostWholeTerms terms is kept for blocks of whole input channels (of terms, where
// a channel has too many), of at most kMostBlockTerms terms and of nearly equal size; products
// between blocks are left out.  Blocks half as large halve the time of all that follows: a job of
// ResNet-50 takes 12 % less, for 0.2 dB.  Groups of a layer have their own columns, moments and
// blocks.  Sums have one order: columns ascend, up to kFloatColumns of them are summed in float32,
// and these sums in double, multiplication and addition rounded separately; so the bits do not
// depend on threads or the instruction set.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/status.h"
#include "core/ir/graph.h"
#include "core/profile/layer.h"

namespace octavo::profile {

inline constexpr int64_t kMostWholeTerms = 1024;
inline constexpr int64_t kMostBlockTerms = 640;
inline constexpr int64_t kFloatColumns = 256;
// Columns of a layer: each run contributes max(1, kMostColumns / runs) of them.
inline constexpr int64_t kMostColumns = 2048;
// Bytes of the moments that are held at a time, with the buffers that collect them.  A layer that
// needs more has none.
inline constexpr int64_t kMostMomentBytes = int64_t{256} << 20;

struct TermBlock {
  int64_t begin = 0, terms = 0;

  bool operator==(const TermBlock&) const = default;
};
// The blocks of one group, in order.
std::vector<TermBlock> BlocksOf(const Layer& layer);
// Of the layer's moments and its buffer of columns.
int64_t MomentBytes(const Layer& layer);

struct LayerMoments {
  Layer layer = {};
  int64_t columns = 0;                           // of each group
  int64_t skipped_columns = 0;                   // with an element that is not finite, in any group
  std::vector<double> first = {};                // [group][term]
  std::vector<std::vector<double>> second = {};  // [group][block]: its lower triangle, by rows

  std::span<const double> Second(int64_t group, size_t block) const {
    return second[static_cast<size_t>(group) * (second.size() / layer.groups) + block];
  }
  bool operator==(const LayerMoments&) const = default;
};

// Collects the moments of some layers of a graph from the values of its runs.
class MomentCollector {
 public:
  // `runs` of the graph follow.  The graph must outlive the collector.
  MomentCollector(const ir::Graph& graph, std::span<const Layer> layers, int64_t runs);

  // A value of the current run, also of the graph's inputs.
  void Watch(ir::ValueId id, const ir::Tensor& tensor, ThreadPool& pool);
  // By the name of the layer's node.
  std::map<std::string, LayerMoments, std::less<>> Finish(ThreadPool& pool);

 private:
  struct Open {
    LayerMoments moments = {};
    std::vector<float> buffer = {};  // [group][room][term]
    int64_t room = 0;                // columns that the buffer holds
    int64_t filled = 0;
  };
  void Add(Open& open, const ir::Tensor& data, ThreadPool& pool);
  void Sum(Open& open, ThreadPool& pool);

  const ir::Graph& graph_;
  int64_t runs_ = 1;
  std::vector<Open> open_;
  std::multimap<int32_t, size_t> by_data_;  // from values to indices of open_
};

// Which layers of `layers` from `begin` on fit into kMostMomentBytes together: the end of that
// part. Layers that do not fit alone are passed over.
size_t EndOfPart(std::span<const Layer> layers, size_t begin);
bool HasMoments(const Layer& layer);
std::vector<Layer> LayersOf(const ir::Graph& graph);

// The moments of a model's layers on the calibration samples.
class MomentSource {
 public:
  using Map = std::map<std::string, LayerMoments, std::less<>>;
  // Runs the model on the calibration samples once more and collects the moments of these layers.
  using Rerun = std::function<Result<Map>(std::span<const Layer> layers)>;

  MomentSource() = default;
  // `layers` are all of `graph`, and `first` has those before `end`.
  MomentSource(const ir::Graph& graph, std::vector<Layer> layers, Map first, size_t end,
               Rerun rerun);
  // The moments of `source` after a division of operands: for some layers, by the names of their
  // nodes, the divisor of each channel of the operand, a power of two.  The bits are those of a run
  // with divided operands.
  using Divisors = std::map<std::string, std::vector<float>, std::less<>>;
  MomentSource(std::shared_ptr<MomentSource> source, Divisors divisors);

  // The layer whose moments `Of` gives; null if there is none.
  const Layer* LayerOf(std::string_view node) const;
  // The moments of a layer by the name of its node; null if it has none.  Ask in the order of the
  // graph: what was collected for earlier layers may be dropped.
  Result<const LayerMoments*> Of(std::string_view node);

 private:
  std::vector<Layer> layers_;
  std::map<std::string, size_t, std::less<>> places_;  // in layers_, by the node's name
  Map held_;
  size_t begin_ = 0, end_ = 0;  // the part that is held
  Rerun rerun_;
  // Of divided moments: `held_` has those of the last layer alone.
  std::shared_ptr<MomentSource> source_;
  Divisors divisors_;
};

}  // namespace octavo::profile
