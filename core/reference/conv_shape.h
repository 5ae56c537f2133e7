// The sizes of a Conv or ConvTranspose node as the kernels want them.
#pragma once

#include <optional>

#include "core/ir/graph.h"
#include "core/reference/kernels/conv.h"

namespace octavo::reference {

// nullopt for more than two spatial axes; one-dimensional convolutions have height 1.
std::optional<ConvShape> ConvShapeOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& w);
std::optional<ConvShape> ConvTransposeShapeOf(const ir::Node& node, const ir::Shape& x,
                                              const ir::Shape& w);

}  // namespace octavo::reference
