// What types cost those who read values, by the histograms of a profile: the noise that roundings
// and clamps add on the way from where codes are computed to where they are read.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/passes/tied_values.h"
#include "core/passes/value_ranges.h"

namespace octavo::passes {

// What codes of a type hold: of one pair of parameters.
ir::Range RangeHeldBy(const ir::Type& type);

// The mean squared error of holding the histogram's reals, limited to `limits` before, in codes of
// `type`: a twelfth of the squared step within what the codes hold, the squared distance beyond.
double HoldingError(const profile::Histogram& histogram, const ir::Range& limits,
                    const ir::Type& type);

class ReadersNoise {
 public:
  // So many values of a histogram, taken to be one real.
  struct Bin {
    double middle = 0, count = 0;
  };

  // Refers to all arguments, and to the graph as it stands.
  ReadersNoise(const ir::Graph& graph, const TiedValues& tied, const Settings& settings,
               const Findings& findings)
      : graph_(graph),
        tied_(tied),
        ranges_(graph, settings, findings),
        assumes_(settings.profile == nullptr),
        mode_(settings.target.numerics) {}

  // Without a profile nothing is known of values but their types: each is taken to be uniform over
  // the reals that its codes hold, or over the range that is proven of it.
  bool assumes() const { return assumes_; }

  // The histogram of a value's reals; null where the profile has none of it.
  const profile::Histogram* Of(ir::ValueId id);

  // The noise-to-signal ratio of each read of reals in the groups that count, if each group had the
  // type that `type_of` says; `nodes` are all that read or compute values of the groups, in the
  // graph's order.  Nothing where a histogram is missing, which `missing` then names.
  std::optional<std::vector<double>> Ratios(const std::vector<ir::NodeId>& nodes,
                                            const std::function<bool(int)>& group_counts,
                                            const std::function<const ir::Type&(int)>& type_of);
  const std::string& missing() const { return missing_; }

  // "" where `type` holds no reals of the value that its own type limits, by the profile.  Such a
  // limit may be all that is left of a Clip.
  std::string WhyLimitStays(ir::ValueId id, const ir::Type& type);

 private:
  // Of one value: mean squares.
  struct Power {
    double noise = 0, signal = 0;
  };

  const ir::Graph& graph_;
  const TiedValues& tied_;
  ValueRanges ranges_;
  bool assumes_ = false;
  ir::Numerics mode_ = ir::Numerics::kOnnx;
  std::map<ir::ValueId, profile::Histogram> made_ = {};  // of payloads, and assumed ones
  std::unordered_map<const profile::Histogram*, std::vector<Bin>> bins_ = {};  // not empty ones
  std::string missing_ = {};

  const profile::Histogram* Assumed(ir::ValueId id);
  std::optional<Power> MadeAt(ir::ValueId id, const ir::Range& limits, const ir::Type& type);
  std::optional<Power> Result(const ir::Node& node, ir::ValueId id,
                              const std::map<ir::ValueId, Power>& held,
                              const std::function<const ir::Type&(int)>& type_of);
};

}  // namespace octavo::passes
