// What the losses of classifiers share: the weighted negative logarithm of the probability of each
// place's class, and how all places are reduced to one number.
#pragma once

#include <functional>

#include "core/ops/elementwise.h"

namespace octavo::ops {

inline constexpr ir::AttrSpec kLossAttributes[] = {{"ignore_index", ir::AttrKind::kInt},
                                                   {"reduction", ir::AttrKind::kString}};

// Scores are [N, C, places..], labels [N, places..], weights [C].
Status InferLoss(ir::InferContext& context);

// `log_probability(n, c, place)` of class c.  Writes result 0.
Status ClassLoss(const ir::EvalContext& context,
                 const std::function<double(int64_t n, int64_t c, int64_t place)>& log_probability);

}  // namespace octavo::ops
