// SPDX-License-Identifier: Apache-2.0
#include "core/job/model_form.h"

#include "core/native/native.h"
#include "core/text/parse.h"

namespace octavo::job {

ModelForm FormOf(const NamedBlob& model) {
  if (text::IsGraph(model.bytes.text())) return ModelForm::kText;
  if (native::IsGraph(model.bytes)) return ModelForm::kNative;
  if (model.name.ends_with(".graph")) return ModelForm::kText;
  if (model.name.ends_with(".octavo")) return ModelForm::kNative;
  return ModelForm::kOnnx;
}

}  // namespace octavo::job
