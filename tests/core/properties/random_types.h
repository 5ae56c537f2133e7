// SPDX-License-Identifier: Apache-2.0
// Types of constants in random quantized graphs.
#pragma once

#include "core/ir/graph.h"
#include "tests/core/properties/dice.h"

namespace octavo::test {

// An 8- or 16-bit type without shape, whose range is 1 to 12.
ir::Type DrawPerTensor(Dice& dice);
// The type with other scales, and at random other zero points, along one of its axes.
ir::Type DrawPerChannel(Dice& dice, ir::Type type);

// An int32 bias at the product of the scales of data and weights; the scales of a group of
// ConvTranspose are those of every group.
ir::Type BiasType(const ir::Type& x, const ir::Type& w, const ir::Shape& shape);

// An int8 table with a scale, and at random a zero point, for each index of `axis`.
ir::Type TableType(Dice& dice, const ir::Shape& shape, int axis);

}  // namespace octavo::test
