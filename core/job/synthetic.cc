// SPDX-License-Identifier: Apache-2.0
#include "core/job/synthetic.h"

#include <cmath>
#include <utility>
#include <vector>

namespace octavo::job {
namespace {

// splitmix64, so that results do not depend on a library.
class Generator {
 public:
  // Starts after `skipped` numbers.
  Generator(uint64_t seed, uint64_t skipped) : state_(seed + skipped * kStep) {}
  uint64_t Next() {
    uint64_t z = state_ += kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // A multiple of 2^-53 in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
  uint64_t state_;
};

// A bin is looked up for each element: a few milliseconds.
constexpr int64_t kStopEvery = 1 << 14;  // elements

bool HasHistogram(const profile::Entry* entry) {
  return entry != nullptr && entry->histogram && !entry->histogram->empty();
}

// How many random numbers DrawTensor takes.
uint64_t NumbersFor(const ir::Type& type, const profile::Entry* entry) {
  const auto elements = static_cast<uint64_t>(ir::NumElements(type.shape));
  return type.dtype == ir::DType::kF32 && HasHistogram(entry) ? 2 * elements : elements;
}

float DrawFrom(const profile::Entry& entry, Generator& generator) {
  if (!HasHistogram(&entry)) {
    return static_cast<float>(entry.min + generator.Unit() * (double{entry.max} - entry.min));
  }
  const profile::Histogram& histogram = *entry.histogram;
  auto rank = static_cast<int64_t>(generator.Unit() * static_cast<double>(histogram.total()));
  size_t bin = 0;
  while (bin + 1 < histogram.counts().size() && rank >= histogram.counts()[bin]) {
    rank -= histogram.counts()[bin++];
  }
  const double low = histogram.low() + static_cast<double>(bin) * histogram.width();
  const double value = low + generator.Unit() * histogram.width();
  return std::clamp(static_cast<float>(value), entry.min, entry.max);
}

Result<ir::Tensor> DrawTensor(const ir::Type& type, const profile::Entry* entry,
                              Generator& generator, const StopToken& stop) {
  ir::Tensor tensor(type.dtype, type.shape);
  if (type.dtype == ir::DType::kF32) {
    const profile::Entry even{.min = -1, .max = 1};
    const std::span<float> values = tensor.mutable_values<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      if (i % kStopEvery == 0) OCTAVO_CHECK(stop.Check());
      values[i] = DrawFrom(entry ? *entry : even, generator);
    }
    return tensor;
  }
  // Sets only the low byte of each element, so that every integer type holds a small number.
  const int size = ir::SizeOf(type.dtype);
  const uint64_t most = type.dtype == ir::DType::kBool ? 2 : 8;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (i % kStopEvery == 0) OCTAVO_CHECK(stop.Check());
    tensor.mutable_raw()[i * size] = static_cast<std::byte>(generator.Next() % most);
  }
  return tensor;
}

}  // namespace

data::Samples DrawSamples(const ir::Graph& graph, const profile::Profile& profile, uint64_t seed,
                          int64_t count) {
  std::vector<std::pair<ir::Type, const profile::Entry*>> inputs;
  uint64_t numbers = 0;  // of a batch
  for (const ir::ValueId input : graph.inputs()) {
    const auto at = profile.values.find(graph.name(input));
    inputs.emplace_back(graph.type(input), at == profile.values.end() ? nullptr : &at->second);
    numbers += NumbersFor(inputs.back().first, inputs.back().second);
  }
  const auto draw = [=, inputs = std::move(inputs)](
                        int64_t b, const StopToken& stop) -> Result<ir::Batches::Batch> {
    Generator generator(seed, static_cast<uint64_t>(b) * numbers);
    ir::Batches::Batch batch;
    for (const auto& [type, entry] : inputs) {
      OCTAVO_TRY(ir::Tensor tensor, DrawTensor(type, entry, generator, stop));
      batch.push_back(std::move(tensor));
    }
    return batch;
  };
  return {.batches = ir::Batches(count, draw), .count = count};
}

}  // namespace octavo::job
