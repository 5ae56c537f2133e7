// SPDX-License-Identifier: Apache-2.0
#include "core/passes/equalize/factors.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/passes/analysis/data_movement.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::ValueId;
using profile::ChannelRanges;

// Calls visit(element of the weight, channel of the operand, output) for every weight.
template <class Visit>
void ForEachWeight(const Graph& graph, const profile::Layer& layer, Visit&& visit) {
  const int64_t inputs = layer.terms / layer.unit;  // channels of a group
  for (int64_t o = 0; o < layer.outputs(); ++o) {
    const profile::WeightOrder order = profile::OrderOf(graph, layer, o);
    const int64_t first = o / layer.channels * inputs;
    for (int64_t c = 0; c < inputs; ++c) {
      const int64_t at = order.first + c * order.unit_stride;
      for (int64_t i = 0; i < layer.unit; ++i) visit(at + i, first + c, o);
    }
  }
}

const ir::Tensor& ElementsOf(const Graph& graph, ValueId id) {
  return graph.value(id).constant->tensor;
}

// A constant operand and the classes that divide it, both broadcast to one shape.
struct Divided {
  ir::Shape shape = {};
  std::vector<float> elements = {};
  std::vector<int32_t> ids = {};
};

Divided DividedOf(const Graph& graph, const VectorClasses& vector) {
  const ir::Tensor& constant = ElementsOf(graph, graph.node(vector.node).inputs[vector.input]);
  Labels labels = vector.labels;
  // Axes in front along which nothing varies need not be added to the constant.
  while (labels.shape.size() > constant.shape().size() && labels.shape.front() == 1) {
    labels.shape.erase(labels.shape.begin());
  }
  Divided divided{.shape = BroadcastShape(constant.shape(), labels.shape)};
  divided.ids = Expand(labels, divided.shape);
  Labels positions{constant.shape(), {}};
  for (int64_t i = 0; i < constant.size(); ++i) {
    positions.ids.push_back(static_cast<int32_t>(i));
  }
  for (const int32_t i : Expand(positions, divided.shape)) {
    divided.elements.push_back(constant.values<float>()[i]);
  }
  return divided;
}

// What the values and layers that have a class ask for.
struct Demand {
  double share = 0, use = 0;
  bool ranged = false, dense = false, depthwise = false;
};

class Demands {
 public:
  Demands(const Graph& graph, const ChannelClasses& classes, const ValueRanges& ranges)
      : graph_(graph), classes_(classes), ranges_(ranges), demands_(classes.size()) {}

  std::vector<float> Factors() {
    for (size_t i = 0; i < graph_.value_bound(); ++i) {
      const ValueId id{static_cast<int32_t>(i)};
      if (!graph_.value(id).erased && classes_.IsFree(id)) AddShares(id);
    }
    for (const LayerClasses& layer : classes_.layers()) AddUses(layer);
    std::vector<float> factors;
    for (const Demand& demand : demands_) factors.push_back(FactorOf(demand));
    factors[kFixed] = 1;
    return factors;
  }

 private:
  void AddShare(int32_t id, double share) {
    demands_[id].share = std::max(demands_[id].share, share);
    demands_[id].ranged = true;
  }

  void AddShares(ValueId id) {
    const Labels& labels = *classes_.Of(id);
    const ChannelRanges* channels = ChannelRangesOf(graph_, classes_, ranges_, id);
    if (channels == nullptr) {
      // What only moves has the elements of its operand.
      const ir::Node* producer = graph_.Producer(id);
      if (producer != nullptr && MovesAll(graph_, *producer)) return;
      for (const int32_t each : labels.ids) AddShare(each, 1);
      return;
    }
    const profile::Entry& all = *ranges_.Of(id);
    for (size_t c = 0; c < labels.ids.size(); ++c) {
      double share = 0;
      if (all.max > 0) share = std::max(share, double{channels->max[c]} / all.max);
      if (all.min < 0) share = std::max(share, double{channels->min[c]} / all.min);
      AddShare(labels.ids[c], share);
    }
  }

  void AddUses(const LayerClasses& layer) {
    if (layer.depthwise()) {
      for (const int32_t id : layer.data) demands_[id].depthwise = true;
      return;
    }
    const auto weights = ElementsOf(graph_, layer.layer.weight).values<float>();
    std::vector<double> rows(static_cast<size_t>(layer.layer.outputs()));
    ForEachWeight(graph_, layer.layer, [&](int64_t w, int64_t, int64_t output) {
      rows[output] = std::max(rows[output], std::fabs(double{weights[w]}));
    });
    ForEachWeight(graph_, layer.layer, [&](int64_t w, int64_t channel, int64_t output) {
      Demand& demand = demands_[layer.data[channel]];
      demand.dense = true;
      if (rows[output] == 0) return;
      demand.use = std::max(demand.use, std::fabs(double{weights[w]}) / rows[output]);
    });
  }

  static float FactorOf(const Demand& demand) {
    if (!demand.ranged || (!demand.dense && !demand.depthwise)) return 1;
    if (demand.dense && demand.use == 0) return 1;
    const double wanted = demand.dense ? std::sqrt(demand.share / demand.use) : demand.share;
    // Also for what is not a number.
    if (!(wanted <= kMostFactor)) return static_cast<float>(kMostFactor);
    return static_cast<float>(NearestPowerOfTwo(std::max(wanted, 1 / kMostFactor)));
  }

  const Graph& graph_;
  const ChannelClasses& classes_;
  const ValueRanges& ranges_;
  std::vector<Demand> demands_;
};

bool IsSafe(float before, float after) {
  return before == 0 || !std::isfinite(before) || std::isnormal(after);
}

// Sets factors to 1 until no element leaves the range of normal numbers.
class Guard {
 public:
  Guard(const Graph& graph, const ChannelClasses& classes, std::vector<float>& factors)
      : graph_(graph), classes_(classes), factors_(factors) {}

  void Run() {
    do {
      changed_ = false;
      for (const LayerClasses& layer : classes_.layers()) Check(layer);
      for (const VectorClasses& vector : classes_.vectors()) Check(vector);
    } while (changed_);
  }

 private:
  void Reset(int32_t id) {
    changed_ = changed_ || factors_[id] != 1;
    factors_[id] = 1;
  }

  void Check(const LayerClasses& layer) {
    const auto before = ElementsOf(graph_, layer.layer.weight).values<float>();
    ForEachWeight(graph_, layer.layer, [&](int64_t w, int64_t channel, int64_t output) {
      const int32_t data = layer.data[channel], result = layer.result[output];
      if (IsSafe(before[w], before[w] * (factors_[data] / factors_[result]))) return;
      Reset(data);
      Reset(result);
    });
  }

  void Check(const VectorClasses& vector) {
    const Divided divided = DividedOf(graph_, vector);
    for (size_t i = 0; i < divided.ids.size(); ++i) {
      const int32_t id = divided.ids[i];
      if (!IsSafe(divided.elements[i], divided.elements[i] / factors_[id])) Reset(id);
    }
  }

  const Graph& graph_;
  const ChannelClasses& classes_;
  std::vector<float>& factors_;
  bool changed_ = false;
};

}  // namespace

double NearestPowerOfTwo(double x) {
  int exponent = 0;
  const double mantissa = 2 * std::frexp(x, &exponent);  // in [1, 2)
  return std::ldexp(1.0, mantissa >= std::numbers::sqrt2 ? exponent : exponent - 1);
}

const ChannelRanges* ChannelRangesOf(const Graph& graph, const ChannelClasses& classes,
                                     const ValueRanges& ranges, ValueId id) {
  const profile::Entry* entry = ranges.Of(id);
  const std::optional<size_t> axis = classes.AxisOf(id);
  if (entry == nullptr || !entry->channels || !axis) return nullptr;
  const ChannelRanges& channels = *entry->channels;
  const bool fits = channels.axis == static_cast<int>(*axis) &&
                    static_cast<int64_t>(channels.min.size()) == graph.type(id).shape[*axis];
  return fits ? &channels : nullptr;
}

std::vector<float> FactorsOf(const Graph& graph, const ChannelClasses& classes,
                             const ValueRanges& ranges) {
  std::vector<float> factors = Demands(graph, classes, ranges).Factors();
  Guard(graph, classes, factors).Run();
  return factors;
}

ir::Tensor ScaledWeights(const Graph& graph, const LayerClasses& layer,
                         const std::vector<float>& factors) {
  ir::Tensor tensor = ElementsOf(graph, layer.layer.weight).Clone();
  const auto values = tensor.mutable_values<float>();
  ForEachWeight(graph, layer.layer, [&](int64_t w, int64_t channel, int64_t output) {
    values[w] *= factors[layer.data[channel]] / factors[layer.result[output]];
  });
  return tensor;
}

ir::Tensor ScaledVector(const Graph& graph, const VectorClasses& vector,
                        const std::vector<float>& factors) {
  const Divided divided = DividedOf(graph, vector);
  ir::Tensor tensor(ir::DType::kF32, divided.shape);
  const auto values = tensor.mutable_values<float>();
  for (size_t i = 0; i < divided.ids.size(); ++i) {
    values[i] = divided.elements[i] / factors[divided.ids[i]];
  }
  return tensor;
}

}  // namespace octavo::passes
