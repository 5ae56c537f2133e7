// SPDX-License-Identifier: Apache-2.0
// The file form of a model: ONNX, native or text.
#pragma once

#include "core/job/job.h"

namespace octavo::job {

enum class ModelForm { kOnnx, kText, kNative };

// Determines the form by content.  If the content begins neither as text nor as a native graph, the
// extension (.graph, .octavo) decides; without one of these the model is ONNX.
ModelForm FormOf(const NamedBlob& model);

}  // namespace octavo::job
