// Types that may stand for a Relu.  Once a Relu is found to change no code of its operand's type,
// or is left to a result's clamp, what is left of it is a type that ends at zero: no law may then
// omit that type in favour of one that holds reals on the other side, whatever the limit.
#pragma once

#include <initializer_list>
#include <string>

#include "core/ir/graph.h"
#include "core/ir/numerics.h"
#include "core/target/target.h"

namespace octavo::passes {

enum class Side { kBelowZero, kAboveZero };

// Whether `omitted` ends at zero on the side, in any channel.
bool EndsAtZero(const ir::Type& type, Side side);

// Whether codes of the type that occur in it stand for reals on the side, in any channel; floats
// hold all reals.
bool HoldsReals(const ir::Type& type, Side side, ir::Numerics mode);

// Whether what computes a value, in floats or in codes, gives no reals on the side: a clamp, an op
// of fixed range, or what hands such reals on.
bool GivesNone(const ir::Graph& graph, const target::Target& target, ir::ValueId value, Side side);

// The reason why a rounding into `omitted` may not go where the reals of all `kept` types then come
// through; "" where it may.  `name` is that of the value of the omitted type.
std::string WhyReluStays(const ir::Type& omitted, std::initializer_list<const ir::Type*> kept,
                         ir::Numerics mode, std::string_view name);
// The same where the value is computed anew in the type `to`, codes or floats, by an op that may
// keep its sign.
std::string WhyReluStays(const ir::Graph& graph, const target::Target& target, ir::ValueId value,
                         const ir::Type& omitted, const ir::Type& to);

}  // namespace octavo::passes
