// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sample_files.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "client/cli/inputs.h"
#include "client/cli/standard_input.h"
#include "core/data/sample_name.h"
#include "core/data/zip_archive.h"

namespace octavo::cli {
namespace {

namespace fs = std::filesystem;
using data::SampleKind;

// A system limits the files that a process may map, and a request the blobs that it may name.
constexpr size_t kMostMapped = 16384, kMostNamed = 256;

// --data or --evaluate, and what it names.
struct SampleFlag {
  std::string_view name = {};
  const std::vector<std::string>& places;
  bool evaluates = false;
};

Failure Wrong(std::string_view flag, const std::string& data, std::string_view why) {
  return Fail(Code::kUsage, "{} '{}' {}", flag, data, why).Field(flag);
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

bool IsArray(SampleKind kind) {
  return kind == SampleKind::kNpy || kind == SampleKind::kNpz || kind == SampleKind::kZip;
}

// Parses the number of a sample's folder: "test_data_set_12" and "12" give 12.
std::optional<uint64_t> NumberOf(const std::string& folder) {
  static const std::regex pattern("(?:test_data_set_)?([0-9]{1,9})");
  std::smatch match;
  if (!std::regex_match(folder, match, pattern)) return std::nullopt;
  return std::stoull(match[1]);
}

// Collects the files of one --data or --evaluate.
class Finder {
 public:
  Finder(std::string_view flag, const std::string& data, const StopToken& stop)
      : flag_(flag), data_(data), stop_(stop) {}

  struct Found {
    std::string name = {};  // within the --data
    fs::path path = {};     // empty: a file that is not read
  };

  Result<std::vector<Found>> Run(const std::string& place) {
    std::error_code error;
    if (fs::is_directory(place, error)) {
      OCTAVO_CHECK(AddFolder(place, ""));
    } else if (fs::exists(place, error)) {
      OCTAVO_CHECK(AddFile(fs::path(place).filename().string(), place));
    } else if (place.find_first_of("*?[{") != std::string::npos) {
      OCTAVO_CHECK(AddPattern(place));
    } else {
      return Wrong(flag_, data_,
                   "cannot be found; it must be a .npz, .npy, .png, .jpg or .zip, a folder, a "
                   "pattern, NAME=FILE, '-' or random:SEED[:N]");
    }
    return std::move(found_);
  }

 private:
  Status AddFile(std::string name, const fs::path& path) {
    const SampleKind kind = data::KindOf(path.filename().string());
    const bool numbered_proto = kind == SampleKind::kProto && data::ParseNumbered(name);
    if (!IsArray(kind) && kind != SampleKind::kImage && !numbered_proto) {
      return Wrong(
          flag_, data_,
          fmt::format("names '{}', which is not a .npz, .npy, .png, .jpg or .zip", path.string()));
    }
    found_.push_back({std::move(name), path});
    return {};
  }

  Status AddPattern(const std::string& pattern) {
    glob_t matches = {};
    const int status = glob(pattern.c_str(), GLOB_BRACE | GLOB_NOSORT, nullptr, &matches);
    std::vector<std::string> paths;
    for (size_t i = 0; i < matches.gl_pathc; ++i) paths.emplace_back(matches.gl_pathv[i]);
    globfree(&matches);
    std::sort(paths.begin(), paths.end());
    if (status != 0 || paths.empty()) return Wrong(flag_, data_, "matches no file");
    for (const std::string& path : paths) {
      OCTAVO_CHECK(stop_.Check());
      std::error_code error;
      OCTAVO_CHECK(fs::is_directory(path, error) ? AddFolder(path, path + "/")
                                                 : AddFile(path, path));
    }
    return {};
  }

  Status AddFolder(const fs::path& root, const std::string& prefix) {
    OCTAVO_TRY(const bool numbered, AddNumbered(root, prefix));
    if (numbered) return {};
    std::vector<Found> arrays, images;
    std::vector<std::string> unread;
    std::error_code error;
    using Walk = fs::recursive_directory_iterator;
    const auto follow = fs::directory_options::follow_directory_symlink;
    for (Walk at(root, follow, error), end; !error && at != end; at.increment(error)) {
      OCTAVO_CHECK(stop_.Check());
      if (IsHidden(at->path())) {
        at.disable_recursion_pending();
        continue;
      }
      const SampleKind kind = data::KindOf(at->path().filename().string());
      const bool image = kind == SampleKind::kImage;
      if (kind == SampleKind::kUnread) {
        unread.push_back(prefix + at->path().lexically_relative(root).string());
      }
      if (!image && !(IsArray(kind) && at.depth() == 0)) continue;
      std::error_code gone;
      if (!at->is_regular_file(gone)) continue;
      const std::string name = prefix + at->path().lexically_relative(root).string();
      (image ? images : arrays).push_back({name, at->path()});
    }
    if (error) return Wrong(flag_, data_, fmt::format("cannot be read: {}", error.message()));
    if (!images.empty() && !arrays.empty()) {
      return Wrong(flag_, data_,
                   fmt::format("has both arrays ('{}') and images ('{}')", arrays.front().name,
                               images.front().name));
    }
    std::ranges::sort(unread);
    if (images.empty() && arrays.empty()) {
      if (!unread.empty()) {
        return Wrong(flag_, data_, fmt::format("has no samples: {}", data::UnreadImages(unread)));
      }
      return Wrong(flag_, data_,
                   "has no samples; it must have .npy, .npz, .png or .jpg files, or folders '0', "
                   "'1', .. or 'test_data_set_0', .. with input_K.pb, input_K.npy or NAME.npy");
    }
    std::vector<Found>& files = images.empty() ? arrays : images;
    std::ranges::sort(files, {}, &Found::name);
    found_.insert(found_.end(), files.begin(), files.end());
    // Their names are enough for the warning.
    if (!images.empty()) {
      for (std::string& name : unread) found_.push_back({.name = std::move(name)});
    }
    return {};
  }

  // Whether there are numbered folders with arrays.
  Result<bool> AddNumbered(const fs::path& root, const std::string& prefix) {
    std::map<uint64_t, std::vector<Found>> samples;
    std::set<uint64_t> seen;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root, error)) {
      OCTAVO_CHECK(stop_.Check());
      const std::string folder = entry.path().filename().string();
      const auto number = NumberOf(folder);
      std::error_code gone;
      if (!number || !entry.is_directory(gone)) continue;
      if (!seen.insert(*number).second) {
        return Wrong(flag_, data_, fmt::format("has two folders for sample {}", *number));
      }
      for (const auto& file : fs::directory_iterator(entry.path(), error)) {
        if (IsHidden(file.path())) continue;
        const std::string name = fmt::format("{}/{}", *number, file.path().filename().string());
        if (data::ParseNumbered(name)) samples[*number].push_back({prefix + name, file.path()});
      }
    }
    if (error) return Wrong(flag_, data_, fmt::format("cannot be read: {}", error.message()));
    for (auto& [number, files] : samples) {
      std::ranges::sort(files, {}, &Found::name);
      found_.insert(found_.end(), files.begin(), files.end());
    }
    return !samples.empty();
  }

  std::string_view flag_;
  const std::string& data_;
  const StopToken& stop_;
  std::vector<Found> found_ = {};
};

// One --data: NAME=PLACE if no file has the whole name.
struct Place {
  std::string input = {};
  std::string place = {};
};

Place PlaceOf(const std::string& data) {
  std::error_code error;
  const size_t equal = data.find('=');
  if (equal == std::string::npos || equal == 0 || fs::exists(data, error)) return {.place = data};
  return {.input = data.substr(0, equal), .place = data.substr(equal + 1)};
}

Status CheckRandom(const SampleFlag& flag, const std::string& data) {
  static const std::regex random("random:[0-9]{1,18}(:[1-9][0-9]{0,8})?");
  if (!std::regex_match(data, random)) return Wrong(flag.name, data, "must be random:SEED[:N]");
  if (flag.places.size() > 1) {
    return Wrong(flag.name, data,
                 fmt::format("cannot be used together with another {}", flag.name));
  }
  return {};
}

}  // namespace

void AddDataFlag(CLI::App& command, SampleArguments& arguments, const std::string& use) {
  command
      .add_option("--data", arguments.data,
                  use +
                      ": .npz, .npy, .png, .jpg or .zip files, folders or patterns of them, "
                      "NAME=FILE for one input, - (standard input) or random:SEED[:N]; repeatable")
      ->type_name("DATA")
      ->allow_extra_args(false);
}

void AddEvaluateFlag(CLI::App& command, SampleArguments& arguments) {
  command
      .add_option("--evaluate", arguments.evaluate,
                  "samples for the report only, in the forms of --data; without them --holdout "
                  "holds some of --data back; repeatable")
      ->type_name("DATA")
      ->allow_extra_args(false);
}

void AddLabelsFlag(CLI::App& command, SampleArguments& arguments) {
  command
      .add_option(
          "--labels", arguments.labels,
          "the samples' classes, for top-1 and top-5 in the report: .npy with an integer per "
          "sample; of those of --evaluate, if it is given")
      ->type_name("L.npy");
}

void AddValuesFlag(CLI::App& command, SampleArguments& arguments) {
  command
      .add_option("--values-from", arguments.values_from,
                  "values inside of the model, which unsupported nodes would compute: a folder of "
                  "NAME.npy, by the value's name, or .npz; the leading axis counts samples")
      ->type_name("DIR");
}

namespace {

// Arrays of values inside of the model, in all folders below.
Status AddValues(const SampleArguments& arguments, const StopToken& stop, SampleFiles& files) {
  const fs::path root = arguments.values_from;
  const auto wrong = [&](std::string_view why) {
    return Fail(Code::kUsage, "--values-from '{}' {}", root.string(), why).Field("--values-from");
  };
  if (files.samples.empty()) return wrong("needs --data");
  std::error_code error;
  if (!fs::is_directory(root, error)) return wrong("is no folder");
  std::map<std::string, fs::path> found;
  using Walk = fs::recursive_directory_iterator;
  for (Walk at(root, error), end; !error && at != end; at.increment(error)) {
    OCTAVO_CHECK(stop.Check());
    const SampleKind kind = data::KindOf(at->path().filename().string());
    const bool array = kind == SampleKind::kNpy || kind == SampleKind::kNpz;
    if (IsHidden(at->path()) || !array || !at->is_regular_file(error)) continue;
    found.emplace(at->path().lexically_relative(root).string(), at->path());
  }
  if (error) return wrong(fmt::format("cannot be read: {}", error.message()));
  if (found.empty()) return wrong("has no .npy and no .npz");
  for (const auto& [name, path] : found) {
    OCTAVO_TRY(Blob bytes, Blob::MapFile(path.string()));
    files.samples.push_back({"values:" + name, std::move(bytes)});
    files.paths.push_back(path.string());
    if (files.samples.size() % kMostMapped == 0) OCTAVO_CHECK(PackSamples(stop, files.samples));
  }
  return {};
}

// The files that one flag names.
Status AddFiles(const SampleFlag& flag, const StopToken& stop, SampleFiles& files) {
  const auto add = [&](std::string name, Blob bytes) {
    if (flag.evaluates) name = data::EvaluationName(name);
    files.samples.push_back({std::move(name), std::move(bytes)});
  };
  for (size_t set = 0; set < flag.places.size(); ++set) {
    const std::string& data = flag.places[set];
    if (data.starts_with("random:")) {
      OCTAVO_CHECK(CheckRandom(flag, data));
      add(data, {});
      continue;
    }
    const Place place = PlaceOf(data);
    data::SampleName name{.set = static_cast<int64_t>(set), .input = place.input};
    const bool prefixed = flag.places.size() > 1;
    if (place.place == "-") {
      OCTAVO_TRY(job::NamedBlob blob, ReadStandardInput(stop));
      name.path = blob.name;
      add(data::BlobName(name, prefixed), std::move(blob.bytes));
      continue;
    }
    OCTAVO_TRY(const auto found, Finder(flag.name, data, stop).Run(place.place));
    for (const Finder::Found& file : found) {
      OCTAVO_CHECK(stop.Check());
      name.path = file.name;
      Blob bytes;
      if (!file.path.empty()) {
        OCTAVO_TRY(bytes, Blob::MapFile(file.path.string()));
        files.paths.push_back(file.path.string());
      }
      add(data::BlobName(name, prefixed || file.name.starts_with('#')), std::move(bytes));
      if (files.samples.size() % kMostMapped == 0) OCTAVO_CHECK(PackSamples(stop, files.samples));
    }
  }
  return {};
}

}  // namespace

Result<SampleFiles> ReadSamples(const SampleArguments& arguments, const StopToken& stop) {
  SampleFiles files;
  OCTAVO_CHECK(AddFiles({.name = "--data", .places = arguments.data}, stop, files));
  if (!arguments.values_from.empty()) OCTAVO_CHECK(AddValues(arguments, stop, files));
  OCTAVO_CHECK(AddFiles({.name = "--evaluate", .places = arguments.evaluate, .evaluates = true},
                        stop, files));
  if (arguments.labels.empty()) return files;
  if (files.samples.empty()) {
    return Fail(Code::kUsage, "--labels needs --data").Field("--labels");
  }
  OCTAVO_TRY(job::NamedBlob labels, ReadNamed(arguments.labels));
  files.samples.push_back({"labels:" + labels.name, std::move(labels.bytes)});
  files.paths.push_back(arguments.labels);
  return files;
}

namespace {

// Moves samples into archives, each of consecutive ones.
class Packer {
 public:
  explicit Packer(const StopToken& stop) : stop_(stop) {}

  Status Add(job::NamedBlob sample) {
    const bool evaluates = data::KindOf(sample.name) == SampleKind::kEvaluation;
    if (evaluates != evaluates_) OCTAVO_CHECK(Pack());
    evaluates_ = evaluates;
    std::string name(evaluates ? data::WithoutWord(sample.name) : sample.name);
    const SampleKind kind = data::KindOf(data::ParseSampleName(name).path);
    if (kind == SampleKind::kLabels || kind == SampleKind::kZip || kind == SampleKind::kRandom) {
      OCTAVO_CHECK(Pack());
      packed_.push_back(std::move(sample));
    } else {
      members_.push_back({std::move(name), std::move(sample.bytes)});
    }
    return {};
  }

  Result<std::vector<job::NamedBlob>> Finish() {
    OCTAVO_CHECK(Pack());
    return std::move(packed_);
  }

 private:
  Status Pack() {
    if (members_.empty()) return {};
    OCTAVO_TRY(Blob archive, data::PackZip(members_, stop_));
    std::string name = fmt::format("samples{}.zip", packed_.size());
    if (evaluates_) name = data::EvaluationName(name);
    packed_.push_back({std::move(name), std::move(archive)});
    members_.clear();
    return {};
  }

  const StopToken& stop_;
  std::vector<job::NamedBlob> packed_ = {};
  std::vector<data::ZipInput> members_ = {};
  bool evaluates_ = false;  // the members
};

}  // namespace

Status PackSamples(const StopToken& stop, std::vector<job::NamedBlob>& samples) {
  if (samples.size() <= kMostNamed) return {};
  Packer packer(stop);
  for (job::NamedBlob& sample : samples) OCTAVO_CHECK(packer.Add(std::move(sample)));
  OCTAVO_TRY(samples, packer.Finish());
  return {};
}

}  // namespace octavo::cli
