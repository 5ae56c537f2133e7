// SPDX-License-Identifier: Apache-2.0
// The options of a job: one field per row of options.def, with its default.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/dtype.h"
#include "core/numerics/mode_table.h"
#include "core/profile/calibration.h"
#include "core/profile/holdout.h"
#include "core/target/target.h"

namespace octavo {

// ONNX parsers reject a message of 2 GiB, and a model contains more than its weights.
inline constexpr int64_t kMaxInlineWeights = 1'800'000'000;

enum class EmitForm { kQdq, kQlinear, kNative, kText };
enum class WeightScales { kPerChannel, kPerTensor };
// How weights are rounded (docs/accuracy.md).
enum class Rounding { kNearest, kBias, kDescent };
// Whether channels are scaled to use their value's range alike; kAuto leaves it to --search.
enum class Equalize { kOff, kOn, kAuto };
// Whether an integer operator's result that is a graph output is rounded to integers first.
enum class OutputType { kFloat, kInteger };
// The strongest numeric effect (passes::Effect) that rewrites may have.
enum class NumericsLimit { kExact, kFewerRoundings, kFewerClamps, kNewParameters };

// Dimensions by graph input name.
using ShapeMap = std::map<std::string, std::vector<int64_t>>;

struct Options {
#define OCTAVO_OPTION(type, name, initial, ...) type name = initial;
#include "core/options/options.def"
#undef OCTAVO_OPTION

  bool operator==(const Options&) const = default;
};

// Whether weights of the layers that --weights-only names have 4 bits.
inline bool FourBitWeights(const Options& options) { return options.weights == ir::DType::kI4; }

}  // namespace octavo
