// Rescale in the modes beside `onnx`: a code of one per-tensor type as a code of another.
#pragma once

#include "core/ir/type.h"
#include "core/ops/code_rescale.h"

namespace octavo::runtime {

class ModeRescaler {
 public:
  static bool Defines(ir::Numerics mode, const ir::Type& from, const ir::Type& to);
  // Where the mode defines it.
  ModeRescaler(ir::Numerics mode, const ir::Type& from, const ir::Type& to);

  int32_t Code(int32_t code) const { return ops::ClampCode(rescale_.BeforeClamp(code), codes_); }

 private:
  ops::CodeRescale rescale_;
  ir::CodeRange codes_;
};

// Whether the mode defines arithmetic on codes of this type: of 8 bits each, of 16 only TFLite,
// signed and with zero point 0.
bool DefinesStorage(ir::Numerics mode, const ir::Type& type);

}  // namespace octavo::runtime
