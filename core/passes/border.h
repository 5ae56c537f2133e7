// Whether an op takes over a Rescale beside it: the conditions of the laws that combine one up or
// down, apart from who else reads the value.  Asked by absorb-rescales before it applies them, and
// by place-rescales to know where Rescales would cost nothing.
#pragma once

#include <optional>
#include <string>

#include "core/passes/pass.h"

namespace octavo::passes {

// What it would do to the numbers, or why it cannot be.
struct Offer {
  std::optional<Effect> effect = {};
  std::string why = {};
  bool clamped_again = false;  // exact, as the reader clamps to the Rescale's own type
  bool order_kept = false;     // exact, as the reader asks for the order of codes alone
};

// Reading `from` where the use reads Rescale(x : from) : to.  A bias is seen to apart from this:
// WhyBiasStays (bias_rescale.h).
Offer OfferToRead(const ir::Graph& graph, const target::Target& target, const ir::Use& use,
                  const ir::Type& from, const ir::Type& to);

// The same where `x` is to be computed in `from` itself, so that no Rescale's clamp is lost.
Offer OfferToReadRetyped(const ir::Graph& graph, const target::Target& target, const ir::Use& use,
                         const ir::Type& from, const ir::Type& to);

// Giving `to` where Rescale(value : from) : to reads the value.
Offer OfferToGive(const ir::Graph& graph, const target::Target& target, ir::ValueId value,
                  const ir::Type& from, const ir::Type& to);

// Rescale(Rescale(x : from) : middle) : to as one Rescale; `name` is that of the value between.
Offer OfferToMerge(const ir::Type& from, const ir::Type& middle, const ir::Type& to,
                   ir::Numerics mode, std::string_view name = {});

// Whether the target has activations of the dtype.
bool HasActivations(const target::Target& target, ir::DType dtype);

}  // namespace octavo::passes
