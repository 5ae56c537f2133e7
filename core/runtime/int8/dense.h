// Packed dense weights, and the loop that multiplies rows of activations by them; what Conv and
// Gemm share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/parallel.h"
#include "core/runtime/int8/aligned.h"
#include "core/runtime/int8/tiles.h"

namespace octavo::runtime::int8::internal {

// Byte k of a row's K meets weights.data[k * k_stride + n * n_stride].  K is cut into `segments`
// of `segment` bytes each, every segment being padded to whole quads with weight 0.
struct DenseSource {
  Weights weights = {};
  int64_t n = 0;
  int64_t segments = 1;
  int64_t segment = 0;
  int64_t k_stride = 1, n_stride = 0;
  std::span<const int32_t> bias = {};  // empty or n
};

// Immutable once packed; read by any number of threads.
struct DenseWeights {
  const Tiles* tiles = nullptr;
  int64_t n = 0, k = 0;  // k without padding
  int64_t segments = 0, quads = 0;
  LineVector<int8_t> narrow = {};  // one of these two
  LineVector<int16_t> wide = {};
  LineVector<int32_t> bias = {};  // zero points folded; padded to whole vectors, as the others
  LineVector<float> multipliers = {};
  std::vector<int32_t> weight_zeros = {};  // empty: all 0
  int32_t input_zero = 0;                  // of the activations as u8
  Ending ending = {};

  // Channels of a panel; the last one may have fewer.  Full ones pack their codes without loss.
  int64_t panel = 0;
};

// The ending that `finish` says, for multipliers padded by zeros.
Ending EndingOf(const Finish& finish, std::span<const float> multipliers);

DenseWeights PackDense(const DenseSource& source, const Activation& input, const Finish& finish);

// The zero point of codes read as u8, and what flips them so.
inline int32_t ZeroAsU8(const Activation& input) {
  return input.zero_point + (input.storage == Storage::kS8 ? 128 : 0);
}
// For sums that end as `finish` says before.
AdditionEnding EndingOf(const Addition& addition, const Finish& finish);
inline uint8_t FlipOf(Storage storage) { return storage == Storage::kS8 ? 0x80 : 0; }
// To at least `size` bytes.
void Grow(std::vector<uint8_t>& bytes, int64_t size);

// Per-channel numbers: empty gives `otherwise`, one is repeated.
template <class T>
T ChannelValue(std::span<const T> values, int64_t channel, T otherwise) {
  if (values.empty()) return otherwise;
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

// Sets pointers[i] to the first byte under row begin + i, for the rows [begin, end).  `bytes` is
// memory of the thread that may be grown and written.
using RowFinder = std::function<void(int64_t begin, int64_t end, std::vector<uint8_t>& bytes,
                                     const uint8_t** pointers)>;
// Rows times weights of one or more groups; group g's part of a row lies g * group_stride bytes
// further on, and its results follow those of the groups before.
struct DenseRun {
  std::span<const DenseWeights> groups = {};
  int64_t group_stride = 0;
  std::span<const int64_t> offsets = {};  // of each segment from the row's first byte
  int64_t rows = 0;
  int64_t row_bytes = 0;  // that a further row brings into the caches
  RowFinder find = {};
  void* out = nullptr;  // element (row, channel) at row * out_stride + channel
  int64_t out_stride = 0;
  // Or null: codes to add, rows of which lie addend_stride apart (0: one row for all), and what
  // adds them.
  const uint8_t* addend = nullptr;
  int64_t addend_stride = 0;
  const AdditionEnding* addition = nullptr;
  const CodeMap* map = nullptr;  // or null: what each code becomes at last
};
void RunDense(const DenseRun& run, ThreadPool& pool);

// Dense rows of `k` bytes `stride` apart, in place where that needs no change.  The weights have
// one segment.
void SetRows(DenseRun& run, const uint8_t* rows, int64_t stride, Storage storage);

}  // namespace octavo::runtime::int8::internal
