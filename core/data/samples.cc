// SPDX-License-Identifier: Apache-2.0
#include "core/data/samples.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "core/data/npy.h"
#include "core/data/npz.h"

namespace octavo::data {
namespace {

constexpr int64_t kRandomSamples = 8;
constexpr int64_t kMaxRandomSamples = 1 << 20;

template <class... Args>
Failure Wrong(std::string_view input, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "samples: {}",
              fmt::format(format, std::forward<Args>(args)...))
      .Field(input)
      .Reason("INVALID_SAMPLES");
}

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

// The parts of "3/input_1.pb" or "test_data_set_3/input_1.npy".
struct NumberedName {
  int64_t sample = 0, input = 0;
  bool proto = false;
};

std::optional<NumberedName> ParseNumbered(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view folder = name.substr(0, slash), file = name.substr(slash + 1);
  if (const size_t above = folder.rfind('/'); above != std::string_view::npos) {
    folder.remove_prefix(above + 1);
  }
  constexpr std::string_view kFolder = "test_data_set_", kFile = "input_";
  if (folder.starts_with(kFolder)) folder.remove_prefix(kFolder.size());
  if (!file.starts_with(kFile)) return std::nullopt;
  file.remove_prefix(kFile.size());
  const bool proto = file.ends_with(".pb");
  if (!proto && !file.ends_with(".npy")) return std::nullopt;
  file.remove_suffix(proto ? 3 : 4);
  const auto sample = NumberOf(folder), input = NumberOf(file);
  if (!sample || !input) return std::nullopt;
  return NumberedName{*sample, *input, proto};
}

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
  constexpr int64_t kStopEvery = 1 << 20;  // elements: a few milliseconds
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

ir::Tensor Rows(const ir::Tensor& array, int64_t first, ir::Shape shape) {
  const int64_t row = array.shape()[0] ? array.bytes() / array.shape()[0] : 0;
  const int64_t bytes = ir::NumElements(shape) * ir::SizeOf(array.dtype());
  return ir::Tensor(
      array.dtype(), std::move(shape),
      array.ToBlob().Slice(static_cast<size_t>(first * row), static_cast<size_t>(bytes)));
}

}  // namespace

// ---------------------------------------------------------------- opening

Result<SampleSource> SampleSource::Open(const std::vector<NamedBlob>& blobs,
                                        const TensorParser& parse) {
  SampleSource source;
  if (blobs.empty()) return Wrong("data", "no samples are given");
  const std::string& name = blobs.front().name;
  source.origin_ = name;
  if (blobs.size() == 1 && name.starts_with("random:")) {
    const std::string_view rest = std::string_view(name).substr(7);
    const size_t colon = std::min(rest.find(':'), rest.size());
    const auto seed = NumberOf(rest.substr(0, colon));
    const auto count =
        colon == rest.size() ? std::optional(kRandomSamples) : NumberOf(rest.substr(colon + 1));
    if (!seed || !count || *count < 1 || *count > kMaxRandomSamples) {
      return Fail(Code::kUsage, "'{}' must be random:SEED or random:SEED:N", name).Field("data");
    }
    source.random_ = Random{static_cast<uint64_t>(*seed), *count};
    return source;
  }
  if (blobs.size() == 1 && name.ends_with(".npz")) {
    OCTAVO_TRY(source.arrays_, ReadNpz(name, blobs.front().bytes));
    return source;
  }
  if (blobs.size() == 1 && name.ends_with(".npy") && !ParseNumbered(name)) {
    OCTAVO_TRY(source.single_, ReadNpy(name, blobs.front().bytes));
    return source;
  }
  std::map<int64_t, std::map<int64_t, ir::Tensor>> samples;
  for (const NamedBlob& blob : blobs) {
    const auto parts = ParseNumbered(blob.name);
    if (!parts) continue;  // outputs and notes
    Result<ir::Tensor> tensor = parts->proto ? parse(blob.bytes) : ReadNpy(blob.name, blob.bytes);
    if (!tensor) {
      Error error = tensor.error();
      error.message = fmt::format("samples: '{}': {}", blob.name, error.message);
      return Forward(std::move(error));
    }
    if (!samples[parts->sample].emplace(parts->input, std::move(*tensor)).second) {
      return Wrong(blob.name, "'{}' is given twice, as .pb and as .npy", blob.name);
    }
  }
  if (samples.empty()) {
    return Wrong("data",
                 "'{}' is not a .npz, a .npy or a file in a numbered folder such as 0/input_0.pb",
                 name);
  }
  for (auto& [number, inputs] : samples) {
    std::vector<ir::Tensor> row;
    for (auto& [input, tensor] : inputs) {
      if (input != static_cast<int64_t>(row.size())) {
        return Wrong("data", "sample {} has no input_{}", number, row.size());
      }
      row.push_back(std::move(tensor));
    }
    source.numbered_.push_back(std::move(row));
  }
  return source;
}

std::map<std::string, ir::Shape> SampleSource::Shapes(
    const std::vector<std::string>& inputs) const {
  std::map<std::string, ir::Shape> shapes;
  for (const auto& [name, tensor] : arrays_) shapes[name] = tensor.shape();
  if (single_ && inputs.size() == 1) shapes[inputs[0]] = single_->shape();
  if (!numbered_.empty()) {
    for (size_t i = 0; i < std::min(inputs.size(), numbered_[0].size()); ++i) {
      shapes[inputs[i]] = numbered_[0][i].shape();
    }
  }
  return shapes;
}

SampleSource SampleSource::Only(const std::vector<std::string>& inputs,
                                const std::vector<std::string>& kept) const {
  SampleSource source = *this;
  for (std::vector<ir::Tensor>& row : source.numbered_) {
    if (row.size() != inputs.size()) continue;  // CutSamples reports this
    std::vector<ir::Tensor> part;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (std::ranges::count(kept, inputs[i]) > 0) part.push_back(row[i]);
    }
    row = std::move(part);
  }
  return source;
}

// ---------------------------------------------------------------- cutting into batches

class SampleCutter {
 public:
  SampleCutter(const SampleSource& source, const std::vector<SampleInput>& inputs)
      : source_(source), inputs_(inputs) {}

  Result<Samples> Run(int64_t most_bytes) {
    if (source_.random_) return Draw(most_bytes);
    if (!source_.numbered_.empty()) {
      for (const std::vector<ir::Tensor>& row : source_.numbered_) OCTAVO_CHECK(Cut(row));
    } else {
      OCTAVO_TRY(const std::vector<ir::Tensor> arrays, ByName());
      OCTAVO_CHECK(Cut(arrays));
    }
    return Samples{.batches = std::move(batches_), .count = count_};
  }

 private:
  Result<Samples> Draw(int64_t most_bytes) const {
    const int64_t rows = BatchOf(0);
    const int64_t batches = (source_.random_->count + rows - 1) / rows;
    int64_t bytes = 0;  // of a batch
    std::vector<ir::Type> types;
    for (const SampleInput& input : inputs_) {
      OCTAVO_CHECK(CheckRandom(input));
      types.push_back(input.type);
      bytes += std::min(input.type.bytes(), std::numeric_limits<int64_t>::max() - bytes);
    }
    if (most_bytes > 0 && bytes > most_bytes / batches) {
      return Fail(Code::kTooLarge,
                  "samples: '{}' makes {} batches of {} bytes each; at most {} bytes are allowed "
                  "(max-samples-bytes)",
                  source_.origin_, batches, bytes, most_bytes)
          .Field("max-samples-bytes");
    }
    const auto draw = [types = std::move(types), seed = source_.random_->seed](
                          int64_t b, const StopToken& stop) -> Result<ir::Batches::Batch> {
      ir::Batches::Batch batch;
      for (size_t i = 0; i < types.size(); ++i) {
        const uint64_t stream = Mix(seed) ^ Mix(static_cast<uint64_t>(b) << 16 | i);
        OCTAVO_TRY(ir::Tensor tensor, RandomTensor(types[i], stream, stop));
        batch.push_back(std::move(tensor));
      }
      return batch;
    };
    return Samples{.batches = ir::Batches(batches, draw), .count = batches * rows};
  }

  Result<std::vector<ir::Tensor>> ByName() const {
    std::vector<ir::Tensor> arrays;
    if (source_.single_) {
      if (inputs_.size() != 1) {
        return Wrong("data", "a .npy holds one input, but the model has {}; use a .npz",
                     inputs_.size());
      }
      return std::vector<ir::Tensor>{*source_.single_};
    }
    for (const SampleInput& input : inputs_) {
      const auto at = source_.arrays_.find(input.name);
      if (at == source_.arrays_.end()) {
        return Wrong(input.name, "'{}' has no array for input '{}'", source_.origin_, input.name);
      }
      arrays.push_back(at->second);
    }
    return arrays;
  }

  int64_t BatchOf(size_t input) const {
    if (input >= inputs_.size() || inputs_[input].type.shape.empty()) return 1;
    return inputs_[input].type.shape[0];
  }

  Status CheckType(const SampleInput& input, const ir::Tensor& array) const {
    if (array.dtype() == input.type.dtype) return {};
    // numpy has no bfloat16; arrays store its bits as uint16.
    if (array.dtype() == ir::DType::kU16 && input.type.dtype == ir::DType::kBF16) return {};
    return Wrong(input.name, "input '{}' takes {}, but its array is {}", input.name,
                 ir::NumpyName(input.type.dtype), ir::NumpyName(array.dtype()));
  }

  // The number of batches in an array; its leading dimension counts samples.
  Result<int64_t> BatchesOf(size_t i, const ir::Tensor& array) const {
    const SampleInput& input = inputs_[i];
    const ir::Shape &want = input.type.shape, &have = array.shape();
    if (have == want) return 1;
    const auto fits = [&](size_t from) {
      return have.size() == want.size() - from + 1 &&
             std::equal(have.begin() + 1, have.end(), want.begin() + static_cast<int64_t>(from));
    };
    if (!want.empty() && !have.empty() && want[0] > 0 && fits(1)) {
      if (have[0] > 0 && have[0] % want[0] == 0) return have[0] / want[0];
      return Wrong(input.name, "input '{}' takes {} samples at once, and its array has {}",
                   input.name, want[0], have[0]);
    }
    // An input without a batch axis: the array has one more leading dimension, which counts
    // samples.
    if (!have.empty() && have[0] > 0 && fits(0)) return have[0];
    return Wrong(input.name, "input '{}' has shape [{}], but its array has shape [{}]", input.name,
                 fmt::join(want, ","), fmt::join(have, ","));
  }

  // Appends the batches from one array per input.
  Status Cut(const std::vector<ir::Tensor>& arrays) {
    if (arrays.size() != inputs_.size()) {
      return Wrong("data", "{} arrays for a model with {} inputs", arrays.size(), inputs_.size());
    }
    int64_t batches = -1;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      OCTAVO_CHECK(CheckType(inputs_[i], arrays[i]));
      OCTAVO_TRY(const int64_t count, BatchesOf(i, arrays[i]));
      if (batches >= 0 && count != batches) {
        return Wrong(inputs_[i].name, "input '{}' has {} batches, the inputs before it {}",
                     inputs_[i].name, count, batches);
      }
      batches = count;
    }
    for (int64_t b = 0; b < std::max<int64_t>(batches, 1); ++b) {
      std::vector<ir::Tensor> batch;
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const ir::Shape& shape = inputs_[i].type.shape;
        const bool batched = arrays[i].shape().size() == shape.size() && !shape.empty();
        ir::Tensor part = arrays[i].shape() == shape
                              ? arrays[i]
                              : Rows(arrays[i], b * (batched ? shape[0] : 1), shape);
        if (part.dtype() != inputs_[i].type.dtype) {
          part = ir::Tensor(inputs_[i].type.dtype, shape, part.ToBlob());
        }
        batch.push_back(std::move(part));
      }
      batches_.push_back(std::move(batch));
    }
    count_ += std::max<int64_t>(batches, 1) * BatchOf(0);
    return {};
  }

  const SampleSource& source_;
  const std::vector<SampleInput>& inputs_;
  std::vector<ir::Batches::Batch> batches_;
  int64_t count_ = 0;
};

Result<Samples> CutSamples(const SampleSource& source, const std::vector<SampleInput>& inputs,
                           int64_t most_bytes) {
  return SampleCutter(source, inputs).Run(most_bytes);
}

Result<std::optional<ir::Tensor>> CommonValue(const SampleSource& source,
                                              const SampleInput& input) {
  if (source.random()) return std::optional<ir::Tensor>();
  OCTAVO_TRY(const Samples samples, CutSamples(source, {input}));
  OCTAVO_TRY(const ir::Batches::Batch first, samples.batches.Read(0, {}));
  for (int64_t b = 1; b < samples.batches.size(); ++b) {
    OCTAVO_TRY(const ir::Batches::Batch batch, samples.batches.Read(b, {}));
    if (batch.front() == first.front()) continue;
    return Fail(Code::kUnimplemented,
                "input '{}' determines a shape, so all samples must have the same value for it, "
                "but they differ",
                input.name)
        .Field(input.name);
  }
  return std::optional(first.front());
}

}  // namespace octavo::data
