#include "core/runtime/int8/depthwise.h"

#include <algorithm>

namespace octavo::runtime::int8::internal {
namespace {

// Where a channel of a block stands in the interleaved order.
int64_t Place(int64_t channel) {
  const int64_t in_block = channel % kBlock;
  const int64_t lane = in_block / 16, j = in_block % 16 / 4, i = in_block % 4;
  return channel / kBlock * kBlock + j * 16 + lane * 4 + i;
}

struct Filters {
  int64_t channels = 0, taps = 0;
  std::vector<int16_t> weights;  // [channel][tap], zero points subtracted
};

Filters ReadFilters(const Weights& weights, int64_t channels, int64_t taps) {
  Filters filters{channels, taps, std::vector<int16_t>(static_cast<size_t>(channels * taps))};
  const auto* data = static_cast<const uint8_t*>(weights.data);
  for (int64_t i = 0; i < channels * taps; ++i) {
    const int32_t code = weights.storage == Storage::kS8 ? static_cast<int8_t>(data[i]) : data[i];
    filters.weights[i] =
        static_cast<int16_t>(code - ChannelValue(weights.zero_points, i / taps, 0));
  }
  return filters;
}

bool FitsInt8(const Filters& filters) {
  return std::all_of(filters.weights.begin(), filters.weights.end(),
                     [](int16_t w) { return w >= -128 && w <= 127; });
}

}  // namespace

DepthwiseCall DepthwiseWeights::Call() const {
  return {.groups = groups,
          .channels = channels,
          .weights = wide.empty() ? static_cast<const void*>(interleaved.data())
                                  : static_cast<const void*>(wide.data()),
          .bias = bias.data(),
          .multipliers = multipliers.data(),
          .ending = ending};
}

DepthwiseWeights PackDepthwise(const Weights& weights, int64_t channels, int64_t taps,
                               std::span<const int32_t> bias, const Activation& input,
                               const Finish& finish) {
  const Tiles& tiles = CurrentTiles();
  const Filters filters = ReadFilters(weights, channels, taps);
  const bool interleave = tiles.depthwise_interleaved != nullptr && FitsInt8(filters);
  const int64_t padded = (channels + kBlock - 1) / kBlock * kBlock;
  DepthwiseWeights out{.function = interleave ? tiles.depthwise_interleaved : tiles.depthwise,
                       .channels = channels,
                       .groups = (taps + 3) / 4,
                       .bias = std::vector<int32_t>(static_cast<size_t>(padded), 0),
                       .multipliers = std::vector<float>(static_cast<size_t>(padded), 0),
                       .ending = {finish.output, finish.zero_point, finish.lowest, finish.highest}};
  interleave ? out.interleaved.assign(static_cast<size_t>(padded * 4 * out.groups), 0)
             : out.wide.assign(static_cast<size_t>(channels * 4 * out.groups), 0);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t place = interleave ? Place(c) : c;
    int64_t sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int16_t weight = filters.weights[c * taps + t];
      sum += weight;
      if (interleave) {
        const int64_t block = place / kBlock * kBlock * 4 * out.groups;
        out.interleaved[block + t / 4 * kBlock * 4 + place % kBlock * 4 + t % 4] =
            static_cast<int8_t>(weight);
      } else {
        out.wide[t * channels + c] = weight;
      }
    }
    // Modulo 2^32, as in PackDense.
    out.bias[place] =
        static_cast<int32_t>(static_cast<uint32_t>(ChannelValue(bias, c, 0)) -
                             static_cast<uint32_t>(ZeroAsU8(input)) * static_cast<uint32_t>(sum));
    out.multipliers[place] = ChannelValue(finish.multipliers, c, 1.0f);
  }
  return out;
}

}  // namespace octavo::runtime::int8::internal
