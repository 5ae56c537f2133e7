// SPDX-License-Identifier: Apache-2.0
#include "core/ir/canonical_quant.h"

namespace octavo::ir {

bool IsCanonical(const Quant& quant) {
  return quant.per_tensor() || quant.blocked() || quant.scales.size() != 1;
}

Quant Canonical(Quant quant) {
  if (!IsCanonical(quant)) quant.axis.reset();
  return quant;
}

}  // namespace octavo::ir
