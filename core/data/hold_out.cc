// SPDX-License-Identifier: Apache-2.0
#include "core/data/hold_out.h"

#include <algorithm>
#include <functional>

namespace octavo::data {
namespace {

// The batch of all samples that is batch `b` of a part.
using Place = std::function<int64_t(int64_t b)>;

Samples PartOf(const Samples& all, int64_t size, const Place& place) {
  const int64_t rows = all.count / all.batches.size();
  const auto read = [batches = all.batches, place](int64_t b, const StopToken& stop) {
    return batches.Read(place(b), stop);
  };
  Samples part{.batches = ir::Batches(size, read),
               .count = size * rows,
               .random = all.random,
               .image_unused = all.image_unused,
               .unused = all.unused};
  for (int64_t b = 0; b < size; ++b) {
    for (int64_t row = 0; row < rows; ++row) part.numbers.push_back(place(b) * rows + row);
  }
  if (all.labels) {
    part.labels.emplace();
    for (const int64_t number : part.numbers) part.labels->push_back((*all.labels)[number]);
  }
  if (all.origin) {
    const auto find = [origin = all.origin, place](int64_t b, size_t input, int64_t element) {
      return origin(place(b), input, element);
    };
    part.origin = SampleOrigins(find);
  }
  return part;
}

}  // namespace

Parted HoldOut(const Samples& samples, int64_t every) {
  const int64_t batches = samples.batches.size(), held = batches / every;
  const auto calibrates = [every](int64_t b) { return b / (every - 1) * every + b % (every - 1); };
  const auto evaluates = [every](int64_t b) { return b * every + every - 1; };
  return {.calibration = PartOf(samples, batches - held, calibrates),
          .evaluation = PartOf(samples, held, evaluates)};
}

ir::Batches FirstOf(const ir::Batches& batches, int64_t count) {
  const auto read = [batches](int64_t b, const StopToken& stop) { return batches.Read(b, stop); };
  return {std::min(count, batches.size()), read};
}

}  // namespace octavo::data
