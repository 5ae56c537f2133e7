// SPDX-License-Identifier: Apache-2.0
// The quantization noise at consumers under given types, by the histograms of a profile: the noise
// of roundings and clamps between a value's producer and its consumers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/passes/analysis/value_ranges.h"
#include "core/passes/rescale/same_type_groups.h"

namespace octavo::passes {

// The range that a per-tensor type can represent.
ir::Range RepresentableRange(const ir::Type& type);

// The mean squared error of clamping the histogram's values to `limits` and then quantizing them to
// `type`: a twelfth of the squared step within the range of the type, the squared distance outside
// of it.
double QuantizationError(const profile::Histogram& histogram, const ir::Range& limits,
                         const ir::Type& type);

class QuantizationNoise {
 public:
  // A histogram bin: `count` values, represented by `middle`.
  struct Bin {
    double middle = 0, count = 0;
  };

  // All arguments must outlive this object; the graph must not change.
  QuantizationNoise(const ir::Graph& graph, const SameTypeGroups& groups, const Settings& settings,
                    const Findings& findings)
      : graph_(graph),
        groups_(groups),
        ranges_(graph, settings, findings),
        assumes_(settings.profile == nullptr),
        mode_(*settings.target.numerics) {}

  // True without a profile: each value is then assumed to be uniform over the range of its type, or
  // over its proven range.
  bool assumes() const { return assumes_; }

  // The histogram of a value, dequantized; null if the profile has none.
  const profile::Histogram* Of(ir::ValueId id);

  // The noise-to-signal ratio at each consumer of values in the groups that count, if each group
  // had the type `type_of`; `nodes` are all producers and consumers of the groups, in graph order.
  // nullopt if a histogram is missing; `missing` then names the value.
  std::optional<std::vector<double>> Ratios(const std::vector<ir::NodeId>& nodes,
                                            const std::function<bool(int)>& group_counts,
                                            const std::function<const ir::Type&(int)>& type_of);
  const std::string& missing() const { return missing_; }

  // The reason if, by the profile, the value's own type clips values that `type` would not clip;
  // else "". Such a type may be the only remaining trace of a Clip.
  std::string WhyLimitStays(ir::ValueId id, const ir::Type& type);

 private:
  // Mean squares of one value.
  struct Power {
    double noise = 0, signal = 0;
  };

  const ir::Graph& graph_;
  const SameTypeGroups& groups_;
  ValueRanges ranges_;
  bool assumes_ = false;
  const numerics::Mode& mode_;
  std::map<ir::ValueId, profile::Histogram> histograms_ = {};  // of constants, and assumed ones
  std::unordered_map<const profile::Histogram*, std::vector<Bin>> bins_ = {};  // nonempty bins
  std::string missing_ = {};

  const profile::Histogram* Assumed(ir::ValueId id);
  std::optional<Power> QuantizedTo(ir::ValueId id, const ir::Range& limits, const ir::Type& type);
  std::optional<Power> Result(const ir::Node& node, ir::ValueId id,
                              const std::map<ir::ValueId, Power>& power_of,
                              const std::function<const ir::Type&(int)>& type_of);
};

}  // namespace octavo::passes
