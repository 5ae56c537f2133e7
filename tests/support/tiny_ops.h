// SPDX-License-Identifier: Apache-2.0
// A few operators for tests of core/ir and core/text, which know no real op.  Each has only the
// features of one kind of rule.
#pragma once

#include <string_view>

#include "core/ir/graph.h"
#include "core/text/parse.h"

namespace octavo::test {

//   Move(x)            same-as-input: copies values; a per-channel type passes, its axis stays
//   Freeze(x)          same-as-input: no per-channel type passes
//   Plus(a, b)         free: elementwise on equal shapes, commutative
//   Affine(x, w, b?)   free: data, weight, bias; x [n, k], w [m, k], b [m] -> [n, m]
//   Sine(x)            float only
//   Halves(x)          two results, each half of axis 0
//   Shaped(x, shape)   the result has the shape that the parameter input holds
//   Knobs(x)           attributes of every kind
//   Quantize(x), Dequantize(q) of domain "octavo"
const ir::OpDef* FindTinyOp(std::string_view name, std::string_view domain);

// Parses a graph with tiny ops; fails the test with the message if the text is wrong.
ir::Graph TinyGraph(std::string_view text);

}  // namespace octavo::test
