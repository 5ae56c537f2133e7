// SPDX-License-Identifier: Apache-2.0
// The form of a model: ONNX, native or text.
#pragma once

#include "core/job/job.h"

namespace octavo::job {

enum class ModelForm { kOnnx, kText, kNative };

// Decided by content.  If it begins neither as text nor as a native graph, the extension (.graph,
// .octavo) decides; otherwise it is ONNX.
ModelForm FormOf(const NamedBlob& model);

}  // namespace octavo::job
