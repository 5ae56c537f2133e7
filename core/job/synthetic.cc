// SPDX-License-Identifier: Apache-2.0
#include "core/job/synthetic.h"

#include <cmath>

namespace octavo::job {
namespace {

// splitmix64, so that results do not depend on a library.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // A multiple of 2^-53 in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

float DrawFrom(const profile::Entry& entry, Generator& generator) {
  if (!entry.histogram || entry.histogram->empty()) {
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

ir::Tensor DrawTensor(const ir::Type& type, const profile::Entry* entry, Generator& generator) {
  ir::Tensor tensor(type.dtype, type.shape);
  if (type.dtype == ir::DType::kF32) {
    const profile::Entry even{.min = -1, .max = 1};
    for (float& value : tensor.mutable_values<float>()) {
      value = DrawFrom(entry ? *entry : even, generator);
    }
    return tensor;
  }
  // Sets only the low byte of each element, so that every integer type holds a small number.
  const int size = ir::SizeOf(type.dtype);
  const uint64_t most = type.dtype == ir::DType::kBool ? 2 : 8;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.mutable_raw()[i * size] = static_cast<std::byte>(generator.Next() % most);
  }
  return tensor;
}

}  // namespace

data::Samples DrawSamples(const ir::Graph& graph, const profile::Profile& profile, uint64_t seed,
                          int64_t count) {
  Generator generator(seed);
  data::Samples samples{.count = count};
  for (int64_t i = 0; i < count; ++i) {
    std::vector<ir::Tensor>& batch = samples.batches.emplace_back();
    for (const ir::ValueId input : graph.inputs()) {
      const auto at = profile.values.find(graph.name(input));
      batch.push_back(DrawTensor(graph.type(input),
                                 at == profile.values.end() ? nullptr : &at->second, generator));
    }
  }
  return samples;
}

}  // namespace octavo::job
