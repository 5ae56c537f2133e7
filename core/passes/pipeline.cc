// SPDX-License-Identifier: Apache-2.0
// The order of passes.  A pass may rely on the postconditions of those above it.
#include <algorithm>
#include <array>

#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

constexpr std::array kPipeline = {
    // Turns imported ops between Dequantize and Quantize into ops on quantized operands, before
    // another rule changes the ops between.
    &kFoldQdqPass,
    // Folds shapes and axes that are computed from constants; all rules below can then read them.
    &kFoldConstantsPass,
    // Rewrites equivalent forms into one, so that the rules below match only one.
    &kCanonicalizePass,
    // Runs in float and before profiling, so that ranges describe the remaining values.
    &kFoldBatchnormPass,
    // Replaces decomposed ops, whose small ops would each round; their patterns match once scales
    // and biases are folded.
    &kRecognizePass,
    // Applies the target's choice of ops: after recognition, and before quantization assigns types
    // to operands.
    &kLowerPass,
    // Changes the ranges from which quantization chooses scales; the graph has its final float ops.
    &kEqualizePass,
    // From here on, values have integer types.
    &kQuantizePass,
    // Moves Quantize and Dequantize past data movement, so that Rescales become adjacent.
    &kMoveQuantizePass,
    // Removes Rescales that cost nothing to remove, before placement considers the rest.
    &kAbsorbRescalesPass,
    // Places the remaining Rescales where they convert the fewest elements.
    &kPlaceRescalesPass,
    // Needs the types that placement has determined.
    &kFuseActivationsPass,
    // Removes the nodes that the rules above made redundant.
    &kRemoveNoopsPass,
    // Rounds weights by what the layers compute, at their final scales; biases are still float.
    &kRoundWeightsPass,
    // Uses the final s_x * s_w: nothing below changes a scale.
    &kSpecializeBiasPass,
    // Rounds constants once, as the last step.
    &kMergeConstantsPass,
};

}  // namespace

std::span<const Pass* const> AllPasses() { return kPipeline; }

std::vector<const Pass*> PassesOf(std::initializer_list<Phase> phases) {
  std::vector<const Pass*> part;
  for (const Pass* pass : kPipeline) {
    if (std::find(phases.begin(), phases.end(), pass->phase) != phases.end()) part.push_back(pass);
  }
  return part;
}

const Pass* FindPass(std::string_view name) {
  for (const Pass* pass : kPipeline) {
    if (pass->name == name) return pass;
  }
  return nullptr;
}

}  // namespace octavo::passes
