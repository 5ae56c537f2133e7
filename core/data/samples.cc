// SPDX-License-Identifier: Apache-2.0
// Opens files of samples and reads their headers.
#include "core/data/samples.h"

#include <algorithm>

#include "core/data/image_array.h"
#include "core/data/npy.h"
#include "core/data/npz.h"
#include "core/data/random_samples.h"
#include "core/data/sample_name.h"
#include "core/data/whole_array.h"

namespace octavo::data {
namespace {

template <class... Args>
Failure Wrong(std::string_view field, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "samples: {}",
              fmt::format(format, std::forward<Args>(args)...))
      .Field(field)
      .Reason("INVALID_SAMPLES");
}

Result<std::vector<int64_t>> ReadLabels(std::string_view name, const Blob& bytes) {
  OCTAVO_TRY(const ir::Tensor labels, ReadNpy(name, bytes));
  const ir::Shape& shape = labels.shape();
  const bool one_axis = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (!one_axis || !ir::IsInteger(labels.dtype())) {
    return Wrong("labels", "'{}' is {} of shape [{}], but labels are integers of shape [samples]",
                 name, ir::NumpyName(labels.dtype()), fmt::join(shape, ","));
  }
  return labels.ToInts();
}

}  // namespace

class SampleOpener {
 public:
  SampleOpener(const TensorParser& parse, const SampleOptions& options, const StopToken& stop)
      : parse_(parse), stop_(stop) {
    source_.options_ = options;
  }

  Result<SampleSource> Run(const std::vector<NamedBlob>& blobs) {
    if (!source_.options_.image.empty()) {
      OCTAVO_TRY(spec_, ParseImageSpec(source_.options_.image));
    }
    for (const NamedBlob& blob : blobs) OCTAVO_CHECK(Add(blob.name, blob.bytes));
    OCTAVO_CHECK(JoinColumns());
    OCTAVO_CHECK(JoinNumbered());
    if (source_.random_ && !source_.groups_.empty()) {
      return Wrong("data", "'{}' cannot be used together with files", source_.origin_);
    }
    if (!source_.random_ && source_.groups_.empty()) {
      if (blobs.empty()) return Wrong("data", "no samples are given");
      if (!source_.unread_.empty()) return Wrong("data", "{}", UnreadImages(source_.unread_));
      return Wrong("data",
                   "'{}' is not a .npz, .npy, .png, .jpg or .zip, nor a file in a numbered folder "
                   "such as 0/input_0.pb",
                   blobs.front().name);
    }
    return std::move(source_);
  }

 private:
  using Group = SampleSource::Group;

  Status Add(const std::string& name, const Blob& bytes) {
    OCTAVO_CHECK(stop_.Check());
    const SampleName parsed = ParseSampleName(name);
    switch (KindOf(parsed.path)) {
      case SampleKind::kRandom: {
        OCTAVO_TRY(const RandomSamples random, ParseRandom(name));
        source_.random_ = {random.seed, random.count};
        source_.origin_ = name;
        return {};
      }
      case SampleKind::kLabels: {
        OCTAVO_TRY(source_.labels_, ReadLabels(parsed.path, bytes));
        return {};
      }
      case SampleKind::kValues:
        return AddValues(std::string(WithoutWord(parsed.path)), bytes);
      case SampleKind::kEvaluation:
        return Wrong(name, "'{}': only a job has samples that evaluate", name);
      case SampleKind::kZip:
        return AddArchive(parsed, bytes);
      case SampleKind::kNpz:
        return AddNpz(parsed, bytes);
      case SampleKind::kNpy:
      case SampleKind::kProto:
      case SampleKind::kImage: {
        OCTAVO_TRY(const ArrayPtr array, OpenFile(parsed, bytes));
        return array ? AddArray(parsed, array) : Status();
      }
      case SampleKind::kUnread:
        source_.unread_.push_back(parsed.path);
        return {};
      case SampleKind::kOther:
        return {};  // notes on the samples
    }
    return {};
  }

  Status AddArchive(const SampleName& archive_name, const Blob& bytes) {
    OCTAVO_TRY(const auto archive, ZipArchive::Open(archive_name.path, bytes));
    for (const ZipMember& member : archive->members()) {
      OCTAVO_CHECK(stop_.Check());
      // PackZip keeps the prefixes of several --data.
      SampleName name = ParseSampleName(member.name);
      if (name.path == member.name) {
        name.set = archive_name.set;
        name.input = archive_name.input;
      }
      const SampleKind kind = KindOf(name.path);
      if (kind == SampleKind::kValues) {
        OCTAVO_CHECK(AddValues(archive, member));
      } else if (kind == SampleKind::kNpy &&
                 (ParseNumbered(name.path) || !IsNumberedOutput(name.path))) {
        OCTAVO_TRY(const ArrayPtr array, OpenMember(name.path, archive, member));
        OCTAVO_CHECK(AddArray(name, array));
      } else if (kind == SampleKind::kImage) {
        OCTAVO_TRY(const ArrayPtr array, MakeImage(name.path, archive, member));
        OCTAVO_CHECK(AddArray(name, array));
      } else if (kind == SampleKind::kNpz || kind == SampleKind::kProto) {
        OCTAVO_TRY(const Blob extracted, archive->Extract(member, stop_));
        OCTAVO_CHECK(Add(BlobName(name, /*prefixed=*/true), extracted));
      } else if (kind == SampleKind::kUnread) {
        source_.unread_.push_back(name.path);
      } else if (kind == SampleKind::kZip || kind == SampleKind::kRandom ||
                 kind == SampleKind::kEvaluation) {
        return Wrong(member.name, "'{}': an archive cannot hold '{}'", archive_name.path,
                     member.name);
      }
    }
    return {};
  }

  Status AddValues(const std::string& path, const Blob& bytes) {
    if (KindOf(path) == SampleKind::kNpz) {
      OCTAVO_TRY(auto arrays, OpenNpz(path, bytes));
      for (const auto& [name, array] : arrays) {
        array->SetFile(path);
        OCTAVO_CHECK(AddValue(path, name, array));
      }
      return {};
    }
    if (KindOf(path) != SampleKind::kNpy) {
      return Wrong(path, "'{}' is no array of values; it must be .npy or .npz", path);
    }
    OCTAVO_TRY(const ArrayPtr array, OpenNpy(path, bytes));
    return AddValue(path, path.substr(0, path.size() - 4), array);
  }

  Status AddValues(const std::shared_ptr<ZipArchive>& archive, const ZipMember& member) {
    const std::string path(WithoutWord(member.name));
    if (KindOf(path) == SampleKind::kNpy) {
      OCTAVO_TRY(const ArrayPtr array, OpenMember(path, archive, member));
      return AddValue(path, path.substr(0, path.size() - 4), array);
    }
    OCTAVO_TRY(const Blob extracted, archive->Extract(member, stop_));
    return AddValues(path, extracted);
  }

  Status AddValue(const std::string& path, const std::string& name, const ArrayPtr& array) {
    if (source_.values_.emplace(name, array).second) return {};
    return Wrong(path, "'{}' has a second array of value '{}'", path, name);
  }

  // A file in a numbered folder that is no input.
  static bool IsNumberedOutput(const std::string& path) {
    return StemOf(path).starts_with("output_") && path.find('/') != std::string::npos;
  }

  Status AddNpz(const SampleName& name, const Blob& bytes) {
    OCTAVO_TRY(auto arrays, OpenNpz(name.path, bytes));
    for (const auto& [input, array] : arrays) array->SetFile(name.path);
    if (const auto numbered = ParseNumbered(name.path); numbered && name.input.empty()) {
      Numbered& sample = numbered_[{name.set, numbered->sample}];
      sample.origin = name.path;
      sample.named.merge(arrays);
      if (arrays.empty()) return {};
      return Wrong(name.path, "sample {} has two arrays '{}'", numbered->sample,
                   arrays.begin()->first);
    }
    if (name.input.empty()) {
      source_.groups_.push_back({.origin = name.path, .named = std::move(arrays)});
      return {};
    }
    // NAME=FILE.npz: the array of that name, or the only one.
    const auto own = arrays.find(name.input);
    if (own == arrays.end() && arrays.size() != 1) {
      return Wrong(name.input, "'{}' has no array '{}'", name.path, name.input);
    }
    columns_[name.input].push_back(own == arrays.end() ? arrays.begin()->second : own->second);
    return {};
  }

  // Null for files of expected outputs.
  Result<ArrayPtr> OpenFile(const SampleName& name, const Blob& bytes) {
    switch (KindOf(name.path)) {
      case SampleKind::kImage:
        return MakeImage(name.path, bytes);
      case SampleKind::kProto: {
        if (!ParseNumbered(name.path)) return ArrayPtr();
        auto array = WholeArray::Open(name.path, bytes, parse_);
        if (array) return *array;
        Error error = array.error();
        error.message = fmt::format("samples: '{}': {}", name.path, error.message);
        return Forward(std::move(error));
      }
      default:
        if (!ParseNumbered(name.path) && IsNumberedOutput(name.path)) return ArrayPtr();
        return OpenNpy(name.path, bytes);
    }
  }

  template <class... Bytes>
  Result<ArrayPtr> MakeImage(const std::string& path, Bytes&&... bytes) {
    if (!spec_) {
      return Fail(
                 Code::kUsage,
                 "samples: '{}' is an image; --image says how images become samples, as in --image "
                 "size=224,mean=0.485,0.456,0.406,std=0.229,0.224,0.225",
                 path)
          .Field("image");
    }
    source_.images_ = true;
    return OpenImage(path, *spec_, std::forward<Bytes>(bytes)...);
  }

  Status AddArray(const SampleName& name, const ArrayPtr& array) {
    if (!name.input.empty()) {
      columns_[name.input].push_back(array);
      return {};
    }
    if (KindOf(name.path) == SampleKind::kImage) {
      source_.groups_.push_back({.origin = name.path, .placed = {array}});
      return {};
    }
    const auto numbered = ParseNumbered(name.path);
    if (!numbered) {
      files_.push_back({.origin = name.path, .named = {{StemOf(name.path), array}}});
      return {};
    }
    Numbered& sample = numbered_[{name.set, numbered->sample}];
    sample.origin = name.path;
    const bool added = numbered->place ? sample.placed.emplace(*numbered->place, array).second
                                       : sample.named.emplace(numbered->input, array).second;
    if (!added) {
      return Wrong(name.path, "'{}' is given twice, as .pb and as .npy", name.path);
    }
    return {};
  }

  // The k-th files of all NAME=FILE belong together.
  Status JoinColumns() {
    if (columns_.empty()) return {};
    if (!source_.groups_.empty() || !files_.empty() || !numbered_.empty()) {
      return Wrong("data", "either all --data have the form NAME=FILE or none");
    }
    const auto& [first, files] = *columns_.begin();
    for (size_t k = 0; k < files.size(); ++k) {
      Group group{.origin = files[k]->file()};
      for (const auto& [input, column] : columns_) {
        if (column.size() != files.size()) {
          return Wrong(input, "input '{}' has {} files, but '{}' has {}", input, column.size(),
                       first, files.size());
        }
        group.named[input] = column[k];
      }
      source_.groups_.push_back(std::move(group));
    }
    return {};
  }

  Status JoinNumbered() {
    const bool only_files = source_.groups_.empty() && numbered_.empty();
    source_.flat_ = only_files && !files_.empty();
    for (Group& file : files_) {
      // Together with other forms, a file's name says nothing about inputs.
      if (!only_files) file = {.origin = file.origin, .placed = {file.named.begin()->second}};
      source_.groups_.push_back(std::move(file));
    }
    for (auto& [number, sample] : numbered_) {
      Group group{.origin = sample.origin, .named = std::move(sample.named)};
      for (auto& [place, array] : sample.placed) {
        if (place != static_cast<int64_t>(group.placed.size())) {
          return Wrong("data", "sample {} has no input_{}", number.second, group.placed.size());
        }
        group.placed.push_back(std::move(array));
      }
      source_.groups_.push_back(std::move(group));
    }
    return {};
  }

  struct Numbered {
    std::string origin = {};
    std::map<int64_t, ArrayPtr> placed = {};
    std::map<std::string, ArrayPtr> named = {};
  };

  const TensorParser& parse_;
  const StopToken& stop_;
  SampleSource source_ = {};
  std::optional<ImageSpec> spec_ = {};
  std::map<std::string, std::vector<ArrayPtr>> columns_ = {};
  std::vector<Group> files_ = {};  // each one .npy, named after its file
  std::map<std::pair<int64_t, int64_t>, Numbered> numbered_ = {};  // by --data and folder
};

Result<SampleSource> SampleSource::Open(const std::vector<NamedBlob>& blobs,
                                        const TensorParser& parse, const SampleOptions& options,
                                        const StopToken& stop) {
  return SampleOpener(parse, options, stop).Run(blobs);
}

ArrayPtr SampleSource::FindValue(const std::string& name) const {
  // Paths cannot begin with a slash; files of `octavo run` have '_' for what is no plain character.
  std::string path = name, file = name.substr(0, 120);
  if (path.starts_with('/')) path.erase(0, 1);
  for (char& c : file) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  for (const std::string& each : {name, path, file}) {
    if (const auto at = values_.find(each); at != values_.end()) return at->second;
  }
  return nullptr;
}

void SampleSource::Settle(const std::vector<std::string>& inputs) {
  if (!std::exchange(flat_, false)) return;
  Group all{.origin = groups_.front().origin};
  for (const Group& file : groups_) all.named.insert(file.named.begin(), file.named.end());
  const auto has_file = [&](const std::string& input) { return all.named.count(input) > 0; };
  if (!inputs.empty() && std::ranges::all_of(inputs, has_file)) {
    groups_ = {std::move(all)};
    return;
  }
  for (Group& file : groups_) {
    file.placed = {file.named.begin()->second};
    file.named.clear();
  }
}

std::map<std::string, ir::Shape> SampleSource::Shapes(
    const std::vector<std::string>& inputs) const {
  SampleSource settled = *this;
  settled.Settle(inputs);
  std::map<std::string, ir::Shape> shapes;
  if (settled.groups_.empty()) return shapes;
  const Group& first = settled.groups_.front();
  for (const auto& [name, array] : first.named) shapes[name] = array->shape();
  const bool fits = first.placed.size() > 1 || inputs.size() == 1;
  for (size_t i = 0; fits && i < std::min(inputs.size(), first.placed.size()); ++i) {
    shapes[inputs[i]] = first.placed[i]->shape();
  }
  return shapes;
}

SampleSource SampleSource::Only(const std::vector<std::string>& inputs,
                                const std::vector<std::string>& kept) const {
  SampleSource source = *this;
  source.Settle(inputs);
  for (Group& group : source.groups_) {
    if (group.placed.size() != inputs.size()) continue;  // CutSamples reports this
    std::vector<ArrayPtr> part;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (std::ranges::count(kept, inputs[i]) > 0) part.push_back(group.placed[i]);
    }
    group.placed = std::move(part);
  }
  return source;
}

}  // namespace octavo::data
