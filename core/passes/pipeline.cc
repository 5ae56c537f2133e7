// SPDX-License-Identifier: Apache-2.0
// The order of passes.  A pass may rely on the postconditions of those above it.
#include <algorithm>
#include <array>

#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

constexpr std::array kPipeline = {
    // Imported ops between Dequantize and Quantize become ops on quantized operands, before another
    // rule changes what is between.
    &kFoldQdqPass,
    // Shapes and axes computed from constants become constants, which all rules below can read.
    &kFoldConstantsPass,
    // Equivalent forms become one, so that rules below match only one.
    &kCanonicalizePass,
    // In float and before profiling, so that ranges are those of the values that remain.
    &kFoldBatchnormPass,
    // Small ops that decompose a large one would each round; they match once scales and biases
    // have been folded.
    &kRecognizePass,
    // The target's choice of ops, after recognition and before quantization gives operands types.
    &kLowerPass,
    // From here on values have integer types.
    &kQuantizePass,
    // Quantize and Dequantize move past data movement, so that Rescales become adjacent.
    &kMoveQuantizePass,
    // Rescales that can be dropped at no cost go before placement considers them.
    &kAbsorbRescalesPass,
    // The rest are placed where they convert the fewest elements.
    &kPlaceRescalesPass,
    // Needs the types that placement has settled.
    &kFuseActivationsPass,
    // Removes nodes that the passes above have made redundant.
    &kRemoveNoopsPass,
    // Rounds biases at the final s_x * s_w: no pass below changes a scale.
    &kSpecializeBiasPass,
    // Rounds constants once, and last.
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
