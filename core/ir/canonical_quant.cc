// SPDX-License-Identifier: Apache-2.0
#include "core/ir/canonical_quant.h"

namespace octavo::ir {

bool IsCanonical(const Quant& quant) { return quant.per_tensor() || quant.scales.size() != 1; }

Quant Canonical(Quant quant) {
  if (!IsCanonical(quant)) {
    quant.axis.reset();
    quant.block = 0;
  }
  return quant;
}

}  // namespace octavo::ir
