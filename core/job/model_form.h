// In which form a model is written.
#pragma once

#include "core/job/job.h"

namespace octavo::job {

enum class ModelForm { kOnnx, kText, kNative };

// By the content.  Where that is neither a text's nor a native graph's beginning, the name's ending
// (.graph, .octavo) says what it was meant to be; without one it is ONNX.
ModelForm FormOf(const NamedBlob& model);

}  // namespace octavo::job
