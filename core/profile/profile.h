// SPDX-License-Identifier: Apache-2.0
// Ranges and histograms of a model's values over samples, by original value name.  The bins of a
// histogram have a power-of-two width and start at multiples of it, so merging the profiles of
// shards equals one profile of all data, bit for bit.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/status.h"

namespace octavo::profile {

inline constexpr int kMaxBins = 2048;
inline constexpr int kPreparation = 1;  // version of the preparation before profiling
inline constexpr int kVersion = 2;      // of the JSON form; 1 had no channels

// Counts of finite values; bin k covers [(first + k) * 2^exponent, (first + k + 1) * 2^exponent).
class Histogram {
 public:
  void Add(std::span<const float> values, ThreadPool* pool = nullptr);
  void Merge(const Histogram& other);

  bool empty() const { return total_ == 0; }
  int64_t total() const { return total_; }
  double width() const;
  double low() const;   // lower edge of the first bin
  double high() const;  // upper edge of the last bin
  const std::vector<int64_t>& counts() const { return counts_; }
  int64_t non_finite() const { return non_finite_; }
  float min() const { return min_; }
  float max() const { return max_; }

  // Makes a histogram from a file's figures; kInvalidArgument if its bins are not of this form.
  static Result<Histogram> FromCounts(double low, double high, std::vector<int64_t> counts,
                                      float min, float max, int64_t non_finite);
  bool operator==(const Histogram&) const = default;

 private:
  int exponent_ = 0;
  int64_t first_ = 0;
  std::vector<int64_t> counts_;
  int64_t total_ = 0;
  int64_t non_finite_ = 0;
  float min_ = 0, max_ = 0;

  void Coarsen(int exponent);
  void Cover(float min, float max);
};

// The ranges of a value's channels, one for each index of the axis, of their finite elements.  A
// channel without any has the range [kNoRangeMin, kNoRangeMax], which leaves every other as it is
// when they merge.
struct ChannelRanges {
  int axis = 0;
  std::vector<float> min = {}, max = {};

  bool operator==(const ChannelRanges&) const = default;
};
inline constexpr float kNoRangeMin = std::numeric_limits<float>::max();
inline constexpr float kNoRangeMax = std::numeric_limits<float>::lowest();
inline constexpr int64_t kMostChannels = 1 << 16;  // of a value: more have no ranges

struct Entry {
  float min = 0;
  float max = 0;
  std::optional<Histogram> histogram = {};
  int64_t non_finite = 0;
  std::optional<ChannelRanges> channels = {};

  bool operator==(const Entry&) const = default;
};

struct Profile {
  std::string model_digest = {};  // "sha256:.."; empty in a hand-written profile
  int preparation = kPreparation;
  int64_t samples = 0;      // 0: unknown
  bool glow_names = false;  // entries have Glow's names; see name_match.h
  std::map<std::string, Entry, std::less<>> values = {};

  bool operator==(const Profile&) const = default;
};

// Reads JSON, Glow's YAML, ONNX Runtime's calibration JSON or TensorRT's cache; the text's form
// determines which.  The message of kInvalidArgument names the wrong entry.
Result<Profile> Parse(std::string_view text);
std::string ToJson(const Profile& profile);
std::string ToGlowYaml(const Profile& profile);
// kInvalidArgument if the profiles are of different models or of different preparations.
Result<Profile> Merge(const std::vector<Profile>& profiles);

}  // namespace octavo::profile
