// SPDX-License-Identifier: Apache-2.0
// Ranges that act as an implicit Relu.  Sometimes a type makes a Relu redundant, or a Relu fuses
// into a result's saturation; the remaining type then has a range that ends at zero.  No rule,
// under any limit, may drop such a type if values beyond zero could then appear.
#pragma once

#include <initializer_list>
#include <string>

#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/target/target.h"

namespace octavo::passes {

enum class Side { kBelowZero, kAboveZero };

// Whether the range of the type ends at zero on the given side, in any channel.
bool EndsAtZero(const ir::Type& type, Side side);

// Whether the type has possible values on the given side, in any channel; float types have.
bool HoldsValues(const ir::Type& type, Side side, const numerics::Mode& mode);

// Whether the value's producer rules out elements on the given side, in float or quantized: a
// clamp, an op of fixed range, or data movement of such a value.
bool ProducesNone(const ir::Graph& graph, const target::Target& target, ir::ValueId value,
                  Side side);

// Why a rounding to `omitted` between values of the `kept` types must stay; "" if it can be
// dropped. `name` is the value of the omitted type.
std::string WhyReluStays(const ir::Type& omitted, std::initializer_list<const ir::Type*> kept,
                         const numerics::Mode& mode, std::string_view name);
// The same for the case that the producer of `value` computes it in `to` (quantized or float)
// instead.
std::string WhyReluStays(const ir::Graph& graph, const target::Target& target, ir::ValueId value,
                         const ir::Type& omitted, const ir::Type& to);

}  // namespace octavo::passes
