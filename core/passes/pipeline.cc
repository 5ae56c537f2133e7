// The order of passes.  A pass may rely on the promises of those above it.
#include <array>

#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

constexpr std::array kPipeline = {
    // Shapes and axes that follow from constants become constants, so that all laws below may
    // look at them.
    &kFoldConstantsPass,
    // One form for what can be written in several, so that laws need to know one.
    &kCanonicalizePass,
    // In float and before profiling: ranges are then those of the values that remain.
    &kFoldBatchnormPass,
    // Small ops that spell out a large one would each round; found once scales and biases have
    // been folded out of the way.
    &kRecognizePass,
    // The target's own choice of ops, made on the forms that were recognized, and before
    // quantization gives their operands types.
    &kLowerPass,
    // From here on values have integer types.
    &kQuantizePass,
    // Quantize and Dequantize out of the way of movement, so that Rescales can meet.
    &kMoveQuantizePass,
    // Rescales that cost nothing to drop go before placement has to consider them.
    &kAbsorbRescalesPass,
    // The rest are placed where they convert the fewest elements.
    &kPlaceRescalesPass,
    // Clamps see the types that placement settled.
    &kFuseActivationsPass,
    // What the laws above have left without a purpose.
    &kRemoveNoopsPass,
    // At the final s_x * s_w: nothing below changes a scale.
    &kSpecializeBiasPass,
    // Rounds constants once, and last.
    &kMergeConstantsPass,
};

}  // namespace

std::span<const Pass* const> AllPasses() { return kPipeline; }

const Pass* FindPass(std::string_view name) {
  for (const Pass* pass : kPipeline) {
    if (pass->name == name) return pass;
  }
  return nullptr;
}

}  // namespace octavo::passes
