#include "core/runtime/mode_rescale.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

std::optional<ops::CodeRescale> RescaleOf(Numerics mode, const ir::Type& from, const ir::Type& to) {
  return ops::CodeRescale::Of(mode, {from.quant->scale(), from.quant->zero_point()},
                              {to.quant->scale(), to.quant->zero_point()});
}

}  // namespace

bool DefinesStorage(Numerics mode, const ir::Type& type) {
  if (!type.quantized()) return false;
  if (ir::SizeOf(type.dtype) == 1) return true;
  if (mode != Numerics::kTflite && mode != Numerics::kTfliteSingle) return false;
  return type.dtype == ir::DType::kI16 && type.quant->per_tensor() && type.quant->zero_point() == 0;
}

bool ModeRescaler::Defines(Numerics mode, const ir::Type& from, const ir::Type& to) {
  return DefinesStorage(mode, from) && DefinesStorage(mode, to) && from.quant->per_tensor() &&
         to.quant->per_tensor() && RescaleOf(mode, from, to).has_value();
}

ModeRescaler::ModeRescaler(Numerics mode, const ir::Type& from, const ir::Type& to)
    : rescale_(*RescaleOf(mode, from, to)), codes_(ir::CodesOf(to.dtype)) {}

}  // namespace octavo::runtime
