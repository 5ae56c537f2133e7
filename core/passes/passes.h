// SPDX-License-Identifier: Apache-2.0
// The rows of all passes; each row is defined in the file with its name.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

extern const Pass kFoldQdqPass;
extern const Pass kFoldConstantsPass;
extern const Pass kCanonicalizePass;
extern const Pass kFoldBatchnormPass;
extern const Pass kRecognizePass;
extern const Pass kLowerPass;
extern const Pass kEqualizePass;
extern const Pass kQuantizePass;
extern const Pass kMoveQuantizePass;
extern const Pass kAbsorbRescalesPass;
extern const Pass kPlaceRescalesPass;
extern const Pass kFuseActivationsPass;
extern const Pass kRemoveNoopsPass;
extern const Pass kRoundWeightsPass;
extern const Pass kSpecializeBiasPass;
extern const Pass kMergeConstantsPass;

}  // namespace octavo::passes
