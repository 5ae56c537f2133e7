// SPDX-License-Identifier: Apache-2.0
#include "core/data/random_samples.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/data/sample_name.h"

namespace octavo::data {
namespace {

constexpr int64_t kRandomSamples = 8;
constexpr int64_t kMaxRandomSamples = 1 << 20;

// 64 random bits from a counter: the same on every machine, and each element independent of the
// others.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Status CheckRandom(const SampleInput& input) {
  if (ir::IsInteger(input.type.dtype) || input.type.dtype == ir::DType::kF32 ||
      input.type.dtype == ir::DType::kBool) {
    return {};
  }
  return Fail(Code::kUnimplemented,
              "samples: input '{}' is {}; random samples of that type cannot be generated",
              input.name, ir::Name(input.type.dtype))
      .Field(input.name);
}

// Floats in [-1, 1); integers in [0, 2), which are valid indices for every table and mask.
Result<ir::Tensor> RandomTensor(const ir::Type& type, uint64_t seed, const StopToken& stop) {
  constexpr int64_t kStopEvery = 1 << 18;  // elements: a millisecond or two
  ir::Tensor tensor(type.dtype, type.shape);
  const auto width = static_cast<size_t>(ir::SizeOf(type.dtype));
  // A quantized input accepts any integer.
  const uint64_t mask = type.quantized() ? ~uint64_t{0} : 1;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (i % kStopEvery == 0) OCTAVO_CHECK(stop.Check());
    const uint64_t bits = Mix(seed + static_cast<uint64_t>(i));
    if (type.dtype == ir::DType::kF32) {
      const auto unit = static_cast<float>(bits >> 40) * 0x1p-24f;
      tensor.mutable_values<float>()[static_cast<size_t>(i)] = unit * 2.0f - 1.0f;
      continue;
    }
    const uint64_t code = bits & mask;
    std::memcpy(tensor.mutable_raw() + static_cast<size_t>(i) * width, &code, width);
  }
  return tensor;
}

}  // namespace

Result<RandomSamples> ParseRandom(std::string_view name) {
  const std::string_view rest = name.substr(std::string_view("random:").size());
  const size_t colon = std::min(rest.find(':'), rest.size());
  const auto seed = NumberOf(rest.substr(0, colon));
  const auto count =
      colon == rest.size() ? std::optional(kRandomSamples) : NumberOf(rest.substr(colon + 1));
  if (!seed || !count || *count < 1 || *count > kMaxRandomSamples) {
    return Fail(Code::kUsage, "'{}' must be random:SEED or random:SEED:N", name).Field("data");
  }
  return RandomSamples{static_cast<uint64_t>(*seed), *count};
}

Result<Samples> DrawFor(const RandomSamples& random, std::string_view origin,
                        const std::vector<SampleInput>& inputs, int64_t most_bytes) {
  const bool batched = !inputs.empty() && !inputs[0].type.shape.empty();
  const int64_t rows = batched ? std::max<int64_t>(inputs[0].type.shape[0], 1) : 1;
  const int64_t batches = (random.count + rows - 1) / rows;
  int64_t bytes = 0;  // of a batch
  std::vector<ir::Type> types;
  for (const SampleInput& input : inputs) {
    OCTAVO_CHECK(CheckRandom(input));
    types.push_back(input.type);
    bytes += std::min(input.type.bytes(), std::numeric_limits<int64_t>::max() - bytes);
  }
  if (most_bytes > 0 && bytes > most_bytes / batches) {
    return Fail(Code::kTooLarge,
                "samples: '{}' makes {} batches of {} bytes each; at most {} bytes are allowed "
                "(max-samples-bytes)",
                origin, batches, bytes, most_bytes)
        .Field("max-samples-bytes");
  }
  const auto draw = [types = std::move(types), seed = random.seed](
                        int64_t b, const StopToken& stop) -> Result<ir::Batches::Batch> {
    ir::Batches::Batch batch;
    for (size_t i = 0; i < types.size(); ++i) {
      const uint64_t stream = Mix(seed) ^ Mix(static_cast<uint64_t>(b) << 16 | i);
      OCTAVO_TRY(ir::Tensor tensor, RandomTensor(types[i], stream, stop));
      batch.push_back(std::move(tensor));
    }
    return batch;
  };
  return Samples{.batches = ir::Batches(batches, draw), .count = batches * rows, .random = true};
}

}  // namespace octavo::data
