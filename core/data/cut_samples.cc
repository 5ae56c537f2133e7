// SPDX-License-Identifier: Apache-2.0
// Cuts samples into batches: the rows of all files follow each other, whatever file they are in.
#include <algorithm>
#include <mutex>
#include <set>

#include "core/base/nearest_name.h"
#include "core/data/random_samples.h"
#include "core/data/sample_name.h"
#include "core/data/samples.h"

namespace octavo::data {
namespace {

template <class... Args>
Failure Wrong(std::string_view input, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "samples: {}",
              fmt::format(format, std::forward<Args>(args)...))
      .Field(input)
      .Reason("INVALID_SAMPLES");
}

// The rows of one input: a batch has `batch` of them, each of `elements` elements.
struct Column {
  ir::Type type = {};
  int64_t batch = 1;
  int64_t elements = 0;
  std::vector<ArrayPtr> arrays = {};
  std::vector<int64_t> ends = {};  // of the rows of each array, counted from the first array's

  explicit Column(const ir::Type& of) : type(of) {
    if (!type.shape.empty()) batch = std::max<int64_t>(type.shape[0], 1);
    elements = type.elements() / batch;
  }
  int64_t rows() const { return ends.empty() ? 0 : ends.back(); }
  // The index of the array that has a row, and the first row of an array.
  size_t ArrayOf(int64_t row) const {
    return static_cast<size_t>(std::ranges::upper_bound(ends, row) - ends.begin());
  }
  int64_t BeginOf(size_t index) const { return index == 0 ? 0 : ends[index - 1]; }
};

// Reads batches of columns, one at a time.
class ColumnReader {
 public:
  explicit ColumnReader(std::vector<Column> columns)
      : columns_(std::move(columns)), reading_(columns_.size()) {}

  Result<ir::Batches::Batch> Read(int64_t batch, const StopToken& stop) {
    const std::scoped_lock lock(mutex_);
    ir::Batches::Batch tensors;
    for (size_t i = 0; i < columns_.size(); ++i) {
      OCTAVO_CHECK(stop.Check());
      ir::Tensor tensor(columns_[i].type.dtype, columns_[i].type.shape);
      OCTAVO_CHECK(Fill(i, batch * columns_[i].batch, tensor, stop));
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  SampleOrigin OriginOf(int64_t batch, size_t input, int64_t element) const {
    const Column& column = columns_[input];
    const int64_t in_row = column.elements > 0 ? element % column.elements : 0;
    const int64_t rows = column.elements > 0 ? element / column.elements : 0;
    const int64_t row = batch * column.batch + rows;
    const size_t index = column.ArrayOf(row);
    const Array& array = *column.arrays[index];
    return {.file = array.file(),
            .array = array.file() == array.name() ? std::string() : array.name(),
            .shape = array.shape(),
            .first = (row - column.BeginOf(index)) * column.elements + in_row};
  }

 private:
  // The rows from `first`, which several arrays may have.
  Status Fill(size_t i, int64_t first, ir::Tensor& tensor, const StopToken& stop) {
    const Column& column = columns_[i];
    const int64_t row_bytes = column.elements * ir::SizeOf(column.type.dtype);
    for (int64_t done = 0; done < column.batch;) {
      const int64_t row = first + done;
      const size_t index = column.ArrayOf(row);
      const int64_t begin = column.BeginOf(index);
      const int64_t count = std::min(column.ends[index] - row, column.batch - done);
      // The memory of `tensor` outlives the view.
      ir::Tensor part(column.type.dtype, {count * column.elements}, std::shared_ptr<void>(),
                      tensor.mutable_raw() + done * row_bytes);
      const ArrayPtr& array = column.arrays[index];
      if (reading_[i] && reading_[i] != array) reading_[i]->Release();
      reading_[i] = array;
      OCTAVO_CHECK(ReadAs(*array, (row - begin) * column.elements, part, stop));
      done += count;
      if (done == column.batch && row + count == column.rows()) array->Release();
    }
    return {};
  }

  std::mutex mutex_;
  std::vector<Column> columns_;
  std::vector<ArrayPtr> reading_;  // the array of each column that was read last
};

}  // namespace

class SampleCutter {
 public:
  SampleCutter(const SampleSource& source, const std::vector<SampleInput>& inputs)
      : source_(source) {
    for (const SampleInput& input : inputs) {
      (input.held ? held_ : inputs_).push_back(input);
      columns_.emplace_back(input.type);
    }
    std::vector<std::string> names;
    for (const SampleInput& input : inputs_) names.push_back(input.name);
    source_.Settle(names);
  }

  Result<Samples> Run(int64_t most_bytes) {
    Samples samples;
    if (source_.random_ && !held_.empty()) {
      return Fail(Code::kUsage, "--values-from needs the samples that the values are of, not '{}'",
                  source_.origin_)
          .Field("data");
    }
    if (source_.random_) {
      RandomSamples random{source_.random_->seed, source_.random_->count};
      if (source_.options_.samples > 0) {
        random.count = std::min(random.count, source_.options_.samples);
      }
      OCTAVO_TRY(samples, DrawFor(random, source_.origin_, inputs_, most_bytes));
    } else {
      OCTAVO_TRY(samples, CutFiles());
    }
    OCTAVO_CHECK(AddLabels(samples));
    samples.image_unused = !source_.options_.image.empty() && !source_.images_;
    samples.unused = Unused();
    return samples;
  }

 private:
  std::vector<std::string> Unused() const {
    std::vector<std::string> inputs;
    for (const SampleInput& input : inputs_) inputs.push_back(input.name);
    std::set<std::string> seen;
    std::vector<std::string> unused;
    for (const SampleSource::Group& group : source_.groups_) {
      for (const auto& [name, array] : group.named) {
        if (std::ranges::count(inputs, name) > 0 || !seen.insert(name).second) continue;
        unused.push_back(fmt::format("array '{}' of '{}' is no input of the model{}", name,
                                     group.origin, DidYouMean(name, inputs)));
      }
    }
    for (const auto& value : source_.values_) {
      const auto reads = [&](const SampleInput& held) {
        return source_.FindValue(held.name) == value.second;
      };
      if (std::ranges::any_of(held_, reads)) continue;
      unused.push_back(
          fmt::format("array '{}' of --values-from is no value that is needed", value.first));
    }
    if (!source_.unread_.empty()) {
      unused.insert(unused.begin(), UnreadImages(source_.unread_));
    }
    if (unused.size() > kMostUnused) unused.resize(kMostUnused);
    return unused;
  }

  Result<Samples> CutFiles() {
    for (const SampleSource::Group& group : source_.groups_) OCTAVO_CHECK(AddGroup(group));
    for (size_t i = 0; i < held_.size(); ++i) OCTAVO_CHECK(AddHeld(held_[i], inputs_.size() + i));
    const int64_t rows = columns_[0].rows(), batch = columns_[0].batch;
    if (rows == 0 || rows % batch != 0) {
      const std::string& name = inputs_.empty() ? held_[0].name : inputs_[0].name;
      return Wrong(name, "input '{}' takes {} samples at once, and its array has {}", name, batch,
                   rows);
    }
    int64_t batches = rows / batch;
    all_ = batches * BatchOf(0);
    if (const int64_t most = source_.options_.samples; most > 0) {
      if (most < batch) {
        return Fail(Code::kUsage, "--samples {} is less than the {} that the model takes at once",
                    most, batch)
            .Field("samples");
      }
      batches = std::min(batches, most / batch);
    }
    const auto reader = std::make_shared<ColumnReader>(std::move(columns_));
    const auto read = [reader](int64_t number, const StopToken& stop) {
      return reader->Read(number, stop);
    };
    const auto origin = [reader](int64_t number, size_t input, int64_t element) {
      return reader->OriginOf(number, input, element);
    };
    return Samples{.batches = ir::Batches(batches, read),
                   .count = batches * BatchOf(0),
                   .origin = SampleOrigins(origin)};
  }

  // `all_` counts the samples before --samples; labels may be of these or of those that are used.
  Status AddLabels(Samples& samples) const {
    if (!source_.labels_) return {};
    const auto have = static_cast<int64_t>(source_.labels_->size());
    if (have != samples.count && have != all_) {
      return Wrong("labels", "there are {} labels, but {} samples", have, samples.count);
    }
    samples.labels.emplace(source_.labels_->begin(), source_.labels_->begin() + samples.count);
    return {};
  }

  int64_t BatchOf(size_t input) const {
    if (input >= inputs_.size() || inputs_[input].type.shape.empty()) return 1;
    return inputs_[input].type.shape[0];
  }

  // One array for each input.
  Result<std::vector<ArrayPtr>> ArraysOf(const SampleSource::Group& group) const {
    if (group.named.empty()) {
      if (group.placed.size() == inputs_.size()) return group.placed;
      if (group.placed.size() != 1) {
        return Wrong("data", "{} arrays for a model with {} inputs", group.placed.size(),
                     inputs_.size());
      }
      return Wrong("data",
                   "'{}' holds one input, but the model has {}; use a .npz, files named after the "
                   "inputs, or --data NAME=FILE for each",
                   group.origin, inputs_.size());
    }
    std::vector<ArrayPtr> arrays;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto at = group.named.find(inputs_[i].name);
      if (at != group.named.end()) {
        arrays.push_back(at->second);
      } else if (i < group.placed.size()) {
        arrays.push_back(group.placed[i]);
      } else {
        std::vector<std::string_view> names;
        for (const auto& [name, array] : group.named) names.push_back(name);
        return Wrong(inputs_[i].name, "'{}' has no array for input '{}'; it has {}{}", group.origin,
                     inputs_[i].name, fmt::join(names, ", "), DidYouMean(inputs_[i].name, names));
      }
    }
    return arrays;
  }

  static std::string NameOf(const Array& array) {
    if (array.file() == array.name()) return fmt::format("its array '{}'", array.name());
    return fmt::format("its array '{}' of '{}'", array.name(), array.file());
  }

  Status CheckType(const SampleInput& input, const Array& array) const {
    if (array.dtype() == input.type.dtype) return {};
    // numpy has no bfloat16; arrays store its bits as uint16.
    if (array.dtype() == ir::DType::kU16 && input.type.dtype == ir::DType::kBF16) return {};
    const bool can = CanConvert(array.dtype(), input.type.dtype);
    if (can && source_.options_.cast) return {};
    return Wrong(input.name, "input '{}' takes {}, but {} is {}{}", input.name,
                 ir::NumpyName(input.type.dtype), NameOf(array), ir::NumpyName(array.dtype()),
                 can ? "; --cast converts it" : "");
  }

  // The rows in an array.  Its leading dimension counts samples, unless it is a single one.
  Result<int64_t> RowsOf(const SampleInput& input, const Array& array) const {
    const ir::Shape &want = input.type.shape, &have = array.shape();
    const int64_t batch = want.empty() ? 1 : std::max<int64_t>(want[0], 1);
    const auto tail_fits = [&](size_t axes_of_have, size_t axes_of_want) {
      return have.size() >= axes_of_have && want.size() >= axes_of_want &&
             std::equal(have.begin() + static_cast<int64_t>(axes_of_have), have.end(),
                        want.begin() + static_cast<int64_t>(axes_of_want), want.end());
    };
    if (have == want) return batch;
    if (!want.empty() && want[0] > 0 && tail_fits(1, 1) && have[0] > 0) return have[0];
    // An input without a batch axis: the array has one more leading dimension, which counts
    // samples.
    if (!have.empty() && have[0] > 0 && tail_fits(1, 0)) return have[0] * batch;
    if (!want.empty() && tail_fits(0, 1)) return 1;
    if (!have.empty() && have[0] == 0) {
      return Wrong(input.name, "there are no samples of input '{}': {} is empty", input.name,
                   NameOf(array));
    }
    return Wrong(input.name, "input '{}' has shape [{}], but {} has shape [{}]", input.name,
                 fmt::join(want, ","), NameOf(array), fmt::join(have, ","));
  }

  Status AddGroup(const SampleSource::Group& group) {
    OCTAVO_TRY(const std::vector<ArrayPtr> arrays, ArraysOf(group));
    int64_t first = 0;  // rows of the first input
    for (size_t i = 0; i < inputs_.size(); ++i) {
      OCTAVO_CHECK(arrays[i]->Bind(inputs_[i].type));
      OCTAVO_CHECK(CheckType(inputs_[i], *arrays[i]));
      OCTAVO_TRY(const int64_t rows, RowsOf(inputs_[i], *arrays[i]));
      Column& column = columns_[i];
      if (i == 0) first = rows;
      if (rows * columns_[0].batch != first * column.batch) {
        return Wrong(inputs_[i].name, "input '{}' has {} samples, the inputs before it {}",
                     inputs_[i].name, rows / column.batch, first / columns_[0].batch);
      }
      column.arrays.push_back(arrays[i]);
      column.ends.push_back(column.rows() + rows);
    }
    return {};
  }

  // A value inside of the model: one array has the values of all samples.
  Status AddHeld(const SampleInput& value, size_t place) {
    const ArrayPtr array = source_.FindValue(value.name);
    if (!array) return Wrong(value.name, "there is no array of value '{}'", value.name);
    OCTAVO_CHECK(array->Bind(value.type));
    OCTAVO_CHECK(CheckType(value, *array));
    OCTAVO_TRY(const int64_t rows, RowsOf(value, *array));
    Column& column = columns_[place];
    column.arrays.push_back(array);
    column.ends.push_back(rows);
    if (rows * columns_[0].batch == columns_[0].rows() * column.batch) return {};
    return Wrong(value.name, "value '{}' has {} samples, the inputs {}", value.name,
                 rows / column.batch, columns_[0].rows() / columns_[0].batch);
  }

  SampleSource source_;
  std::vector<SampleInput> inputs_ = {}, held_ = {};
  std::vector<Column> columns_ = {};
  int64_t all_ = 0;
};

Result<Samples> CutSamples(const SampleSource& source, const std::vector<SampleInput>& inputs,
                           int64_t most_bytes) {
  return SampleCutter(source, inputs).Run(most_bytes);
}

Result<std::optional<ir::Tensor>> CommonValue(const SampleSource& source, const SampleInput& input,
                                              const StopToken& stop) {
  if (source.random()) return std::optional<ir::Tensor>();
  OCTAVO_TRY(const Samples samples, CutSamples(source, {input}));
  OCTAVO_TRY(const ir::Batches::Batch first, samples.batches.Read(0, stop));
  for (int64_t b = 1; b < samples.batches.size(); ++b) {
    OCTAVO_TRY(const ir::Batches::Batch batch, samples.batches.Read(b, stop));
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
