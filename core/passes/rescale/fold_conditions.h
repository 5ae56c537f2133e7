// SPDX-License-Identifier: Apache-2.0
// Whether a Rescale can be folded into its producer or consumer, or merged with another Rescale:
// the conditions of these rules, except for the number of consumers.  absorb-rescales checks them
// before it applies a rule; place-rescales uses them to find where a Rescale costs nothing.
#pragma once

#include <optional>
#include <string>

#include "core/passes/analysis/order.h"
#include "core/passes/pass.h"

namespace octavo::passes {

// The numeric effect of folding, or the reason why it is not possible.  With the effect
// new-parameters, `why` is the reason for it.
struct FoldCheck {
  std::optional<Effect> effect = {};
  std::string why = {};
  bool clamped_again = false;     // exact: the consumer clamps to the Rescale's own type
  bool depends_on_order = false;  // the consumer does, and reads elements of any type
};

// Whether the consumer of Rescale(x : from) : to can use x instead.  Does not check the bias: see
// WhyBiasStays (bias_rescale.h).
FoldCheck CanFoldIntoConsumer(const ir::Graph& graph, const target::Target& target,
                              const ir::Use& use, const ir::Type& from, const ir::Type& to);

// Whether a consumer of type `to` accepts a value that is computed in `from` instead: the same
// conditions, except that no clamp of a Rescale can be lost.
FoldCheck ConsumerAccepts(const ir::Graph& graph, const target::Target& target, const ir::Use& use,
                          const ir::Type& from, const ir::Type& to);

// Whether the producer of `value` can compute Rescale(value : from) : to directly.
FoldCheck CanFoldIntoProducer(const ir::Graph& graph, const target::Target& target,
                              ir::ValueId value, const ir::Type& from, const ir::Type& to);

// Whether Rescale(Rescale(x : from) : middle) : to can become one Rescale; `name` is the middle
// value.
FoldCheck CanMerge(const ir::Type& from, const ir::Type& middle, const ir::Type& to,
                   const numerics::Mode& mode, std::string_view name = {});

// The same for the Rescale `second`, whose operand is a Rescale; also checks its consumers, if an
// order-dependent op may follow.
FoldCheck CanMerge(const ir::Graph& graph, const ir::Node& second, const numerics::Mode& mode,
                   const OrderFollows& order_follows);

// Whether the target supports activations of the dtype.
bool HasActivations(const target::Target& target, ir::DType dtype);

}  // namespace octavo::passes
