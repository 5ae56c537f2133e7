// Rescales that are something else, and what is a Rescale without the name: laws of absorb.cc.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kConstantRescaled = {
    "constant-rescaled", "Rescale(constant) -> constant", Effect::kExact,
    "the constant has its codes, or changing its pending parameters is past the limit: both "
    "roundings are then evaluated (mode onnx)"};
inline constexpr Rule kDisguised = {
    "disguised", "Op(x) : t -> Rescale(x) : t", Effect::kExact,
    "Op leaves every real of x as it is and only the quantization differs: a window of one "
    "element, "
    "Max with what is below every code, a clamp that no code reaches; beside the modes onnx and "
    "glow-interpreter only Relu"};

inline constexpr Rule kOrderSunk = {
    "order-sunk", "TopK(Rescale(x)) -> Rescale(TopK(x))", Effect::kExact,
    "the Rescale gives different codes for different codes that occur, by enumeration, so that the "
    "indices stay; nobody else reads it"};

// Makes a constant of what the Rescale `id` of a constant gives.
bool RescaleConstant(ir::Graph& graph, ir::NodeId id, Context& context);

// Makes a Rescale of a node that is one.
bool Disguise(ir::Graph& graph, ir::NodeId id, Context& context);

// Lets TopK choose among the codes under its Rescale, and rescales what it has chosen.
bool SinkBelowOrder(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes
