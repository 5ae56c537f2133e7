// SPDX-License-Identifier: Apache-2.0
// Samples that are drawn from a seed, one batch at a time.
#pragma once

#include <vector>

#include "core/data/samples.h"

namespace octavo::data {

struct RandomSamples {
  uint64_t seed = 0;
  int64_t count = 0;
};

// "random:SEED[:N]"; kUsage for other text.
Result<RandomSamples> ParseRandom(std::string_view name);

// Floats in [-1, 1), small integers.  kTooLarge if the samples are more than `most_bytes` together
// (0: no limit); `origin` is their name in messages.
Result<Samples> DrawFor(const RandomSamples& random, std::string_view origin,
                        const std::vector<SampleInput>& inputs, int64_t most_bytes);

}  // namespace octavo::data
