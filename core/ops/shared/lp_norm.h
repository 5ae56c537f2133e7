// SPDX-License-Identifier: Apache-2.0
// The divisor of a row in LpNormalization.  ONNX uses only the norm; decomposed forms in models
// keep the divisor away from 0 in one of three ways, which Octavo's own attributes `epsilon` and
// `epsilon_mode` express:
//
//   max    max(norm, epsilon)            PyTorch's normalize; epsilon = sqrt(e) for max(squares, e)
//   add    norm + epsilon
//   inside sqrt(squares + epsilon)       only with p = 2
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/ir/attribute.h"

namespace octavo::ops {

struct Divisor {
  double least = 0, added = 0, inside = 0;

  // The divisor for a row with that sum of squares (p = 2) or magnitudes (p = 1); 0 means that the
  // row stays 0.
  double Of(double sum, bool squares) const {
    const double norm = squares ? std::sqrt(sum + inside) : sum;
    return std::max(norm + added, least);
  }
};

// nullopt for an unknown mode, or for an epsilon that is not a finite number >= 0.
inline std::optional<Divisor> DivisorOf(const ir::AttrMap& attributes) {
  const double epsilon = attributes.Float("epsilon", 0);
  if (!(epsilon >= 0) || std::isinf(epsilon)) return std::nullopt;
  const std::string mode = attributes.String("epsilon_mode", "max");
  if (mode == "max") return Divisor{.least = epsilon};
  if (mode == "add") return Divisor{.added = epsilon};
  if (mode == "inside") return Divisor{.inside = epsilon};
  return std::nullopt;
}

}  // namespace octavo::ops
