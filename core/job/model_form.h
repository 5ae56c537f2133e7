// SPDX-License-Identifier: Apache-2.0
// The form of a model: ONNX, native or text.
#pragma once

#include "core/job/job.h"

namespace octavo::job {

enum class ModelForm { kOnnx, kText, kNative };

// By content.  Content that begins neither as text nor as a native graph is what the extension
// (.graph, .octavo) tells, else ONNX.
ModelForm FormOf(const NamedBlob& model);

}  // namespace octavo::job
