// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/quantization_noise.h"

#include <algorithm>

#include "core/ops/quantize_math.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/rescale/absorb.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {

using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

using Bin = QuantizationNoise::Bin;

namespace {

std::vector<Bin> BinsOf(const profile::Histogram& histogram) {
  std::vector<Bin> bins;
  for (size_t k = 0; k < histogram.counts().size(); ++k) {
    if (histogram.counts()[k] == 0) continue;
    const double x = histogram.low() + (static_cast<double>(k) + 0.5) * histogram.width();
    bins.push_back({std::clamp(x, double{histogram.min()}, double{histogram.max()}),
                    static_cast<double>(histogram.counts()[k])});
  }
  return bins;
}

// The sum of f(real) over the histogram; each bin counts with its middle value.
template <class F>
double SumOf(const std::vector<Bin>& bins, const F& f) {
  double sum = 0;
  for (const Bin& bin : bins) sum += bin.count * f(bin.middle);
  return sum;
}

double Limited(double x, const ir::Range& limits) {
  return std::clamp(x, double{limits.min}, double{limits.max});
}

double Signal(const std::vector<Bin>& bins, double total, const ir::Range& limits) {
  const auto square = [&](double x) { return Limited(x, limits) * Limited(x, limits); };
  return SumOf(bins, square) / total;
}

double ErrorOf(const std::vector<Bin>& bins, double total, const ir::Range& limits,
               const Type& type) {
  const double step = type.quant->scale();
  const ir::Range representable = RepresentableRange(type);
  const auto error = [&](double x) {
    const double beyond = Limited(x, limits) - Limited(Limited(x, limits), representable);
    return std::max(beyond * beyond, step * step / 12);
  };
  return SumOf(bins, error) / total;
}

// Both ranges contain zero.
ir::Range Intersection(const ir::Range& a, const ir::Range& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

// The number of sample values of a 16-bit type.
constexpr int64_t kAssumedValues = 1024;

float RealOf(const Type& type, int64_t code) {
  return ops::DequantizeOne(static_cast<int32_t>(code), type.quant->scale(),
                            type.quant->zero_point());
}

}  // namespace

ir::Range RepresentableRange(const Type& type) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const int64_t zero = type.quant->zero_point();
  return {static_cast<float>(range.min - zero) * type.quant->scale(),
          static_cast<float>(range.max - zero) * type.quant->scale()};
}

double QuantizationError(const profile::Histogram& histogram, const ir::Range& limits,
                         const Type& type) {
  return ErrorOf(BinsOf(histogram), static_cast<double>(histogram.total()), limits, type);
}

std::string QuantizationNoise::WhyLimitStays(ValueId id, const Type& type) {
  if (assumes_) return {};  // only data can distinguish a limit from a narrow type
  const Node* producer = graph_.Producer(id);
  const ValueId values = IsOwn(producer, "Rescale") ? producer->inputs[0] : id;
  const Type& own = graph_.type(id);
  const ir::Range was = RepresentableRange(own), is = RepresentableRange(type);
  const float margin = own.quant->scale() / 2;
  for (const ValueId of : {id, values}) {
    const profile::Histogram* histogram = Of(of);
    if (histogram == nullptr) continue;
    const bool low = histogram->min() < was.min - margin && is.min < was.min - margin;
    const bool high = histogram->max() > was.max + margin && is.max > was.max + margin;
    if (!low && !high) continue;
    return fmt::format("the range of '{}' clips its values {}", graph_.name(id),
                       low ? "from below" : "from above");
  }
  return {};
}

const profile::Histogram* QuantizationNoise::Of(ValueId id) {
  const auto known = [](const profile::Entry* entry) {
    return entry && entry->histogram && !entry->histogram->empty() ? &*entry->histogram : nullptr;
  };
  if (const auto* own = known(ranges_.Of(id))) return own;
  const Node* producer = graph_.Producer(id);
  if (IsOwn(producer, "Rescale")) return Of(producer->inputs[0]);
  if (IsOwn(producer, "Quantize")) {
    const ValueId values = producer->inputs[0];
    if (const auto* own = known(ranges_.Of(values))) return own;
    if (graph_.IsConstant(values)) {
      const auto [at, added] = histograms_.try_emplace(values);
      if (added) at->second.Add(graph_.value(values).constant->tensor.values<float>());
      return at->second.empty() ? nullptr : &at->second;
    }
  }
  // A graph output has the name of the dequantized value.
  for (const ir::Use& use : graph_.value(id).uses) {
    const Node& consumer = graph_.node(use.node);
    if (!IsOwn(consumer, "Dequantize")) continue;
    if (const auto* own = known(ranges_.Of(consumer.result()))) return own;
  }
  return assumes_ ? Assumed(id) : nullptr;
}

const profile::Histogram* QuantizationNoise::Assumed(ValueId id) {
  const Type& type = graph_.type(id);
  if (!type.quantized() || !type.quant->per_tensor()) return nullptr;
  const auto [at, added] = histograms_.try_emplace(id);
  if (added) {
    const ir::IntegerRange range = PossibleValues(type, 0, mode_);
    const int64_t step = std::max<int64_t>(1, (range.max - range.min) / kAssumedValues);
    std::vector<float> values;
    for (int64_t code = range.min; code < range.max; code += step) {
      values.push_back(RealOf(type, code));
    }
    values.push_back(RealOf(type, range.max));
    at->second.Add(values);
  }
  return &at->second;
}

std::optional<QuantizationNoise::Power> QuantizationNoise::QuantizedTo(ValueId id,
                                                                       const ir::Range& limits,
                                                                       const Type& type) {
  const profile::Histogram* histogram = Of(id);
  if (histogram == nullptr) {
    missing_ = graph_.name(id);
    return std::nullopt;
  }
  const auto [at, added] = bins_.try_emplace(histogram);
  if (added) at->second = BinsOf(*histogram);
  const auto total = static_cast<double>(histogram->total());
  return Power{ErrorOf(at->second, total, limits, type), Signal(at->second, total, limits)};
}

std::optional<QuantizationNoise::Power> QuantizationNoise::Result(
    const Node& node, ValueId id, const std::map<ValueId, Power>& power_of,
    const std::function<const Type&(int)>& type_of) {
  const Type& type = type_of(groups_.Of(id));
  const ir::Range own = RepresentableRange(graph_.type(id));  // in the current graph
  if (IsRescale(node)) {
    const ValueId x = node.inputs[0];
    const ir::Range limits = graph_.type(x).quant->per_tensor()
                                 ? Intersection(RepresentableRange(graph_.type(x)), own)
                                 : own;
    const auto before = power_of.find(x);
    if (before == power_of.end()) return QuantizedTo(x, limits, type);
    if (type_of(groups_.Of(x)).SameQuantization(type)) return before->second;
    const std::optional<Power> again = QuantizedTo(x, limits, type);
    if (!again) return std::nullopt;
    return Power{before->second.noise + again->noise, again->signal};
  }
  if (!groups_.IsSameScale(node)) return QuantizedTo(id, own, type);
  // The mean of the operands, weighted by their element counts.
  Power sum;
  double elements = 0;
  for (const ValueId input : node.inputs) {
    const auto at = input ? power_of.find(input) : power_of.end();
    if (at == power_of.end()) continue;
    const auto share = static_cast<double>(graph_.type(input).elements());
    sum.noise += share * at->second.noise;
    sum.signal += share * at->second.signal;
    elements += share;
  }
  if (elements == 0) return QuantizedTo(id, own, type);
  return Power{sum.noise / elements, sum.signal / elements};
}

std::optional<std::vector<double>> QuantizationNoise::Ratios(
    const std::vector<NodeId>& nodes, const std::function<bool(int)>& group_counts,
    const std::function<const Type&(int)>& type_of) {
  std::map<ValueId, Power> power_of;
  std::vector<double> ratios;
  const auto counts = [&](ValueId id) {
    return id && groups_.Of(id) >= 0 && group_counts(groups_.Of(id));
  };
  for (const NodeId id : nodes) {
    const Node& node = graph_.node(id);
    for (const ValueId input : node.inputs) {
      if (!counts(input)) continue;
      if (power_of.find(input) == power_of.end() && graph_.Producer(input) == nullptr) {
        const std::optional<Power> made =
            QuantizedTo(input, RepresentableRange(graph_.type(input)), type_of(groups_.Of(input)));
        if (!made) return std::nullopt;
        power_of[input] = *made;
      }
      // A Rescale that leaves the groups represents its consumers.
      if (groups_.IsSameScale(node) || (IsRescale(node) && counts(node.result()))) continue;
      const Power& power = power_of.at(input);
      ratios.push_back(power.signal > 0 ? power.noise / power.signal : 0);
    }
    for (const ValueId result : node.results) {
      if (!counts(result)) continue;
      const std::optional<Power> power = Result(node, result, power_of, type_of);
      if (!power) return std::nullopt;
      power_of[result] = *power;
    }
  }
  return ratios;
}

}  // namespace octavo::passes
