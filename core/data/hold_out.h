// SPDX-License-Identifier: Apache-2.0
// Parts samples into those that calibrate and those that evaluate.
#pragma once

#include <cstdint>

#include "core/data/samples.h"

namespace octavo::data {

struct Parted {
  Samples calibration = {}, evaluation = {};
};

// Batch b evaluates if b % every == every - 1; the others calibrate.  A batch is a sample, unless
// the model takes several at once.  `every` is at least 2 and at most the number of batches.  The
// parts read the batches when they are asked for, as `samples` does.
Parted HoldOut(const Samples& samples, int64_t every);

// The first so many batches of `samples`.
ir::Batches FirstOf(const ir::Batches& batches, int64_t count);

}  // namespace octavo::data
