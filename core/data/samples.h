// SPDX-License-Identifier: Apache-2.0
// The samples of `--data` or of `--evaluate`, cut into the batches that a model accepts.
//
//   .npz                    an array per input; the leading dimension counts samples
//   .npy                    for a model with a single input, or named after an input
//   "0/input_0.pb", ..      numbered folders: `input_K.pb` or `.npy` per input, `NAME.npy`, or .npz
//   .png, .jpg              an image is one sample of a model's single input
//   .zip                    the files above as members
//   "random:SEED[:N]"       N (8) samples, uniform in [-1, 1), or small integers
//   "labels:L.npy"          the samples' classes
//   "values:NAME.npy", .npz arrays of values inside of the model; the leading axis counts samples
//
// Several files follow each other; sample_name.h has the names' form.  Only the headers of files
// are read at first: a batch is read and converted when it is asked for, and kept by its reader
// alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/data/array.h"
#include "core/ir/batches.h"

namespace octavo::data {

struct NamedBlob {
  std::string name = {};
  Blob bytes = {};
};

// Parses a TensorProto; the caller supplies it, because only core/onnx knows that format.
using TensorParser = std::function<Result<ir::Tensor>(const Blob&)>;

// How samples are read.
struct SampleOptions {
  std::string image = {};  // image_spec.h
  bool cast = false;       // convert numbers to the input's type
  int64_t samples = 0;     // use the first so many; 0: all
};

// The arrays as found, not yet matched with a model.  Copies share the arrays.
class SampleSource {
 public:
  static Result<SampleSource> Open(const std::vector<NamedBlob>& blobs, const TensorParser& parse,
                                   const SampleOptions& options = {}, const StopToken& stop = {});

  // The same samples with only the arrays of the inputs `kept`; `inputs` lists all inputs of the
  // model.
  SampleSource Only(const std::vector<std::string>& inputs,
                    const std::vector<std::string>& kept) const;

  // The array of a value inside of the model, by its name or by the name of a file that `octavo
  // run` would give it; null if there is none.
  ArrayPtr FindValue(const std::string& name) const;

  bool random() const { return random_.has_value(); }

  // The shapes of the first sample's arrays by input name: they bind a model's dynamic extents.
  // Empty for random samples.
  std::map<std::string, ir::Shape> Shapes(const std::vector<std::string>& inputs) const;

  // An input as the model declares it; nullopt is an extent that it leaves open.
  struct Declared {
    std::string name = {};
    std::vector<std::optional<int64_t>> extents = {};
  };
  // The samples of the first file's sizes, then those of other sizes that `inputs`, which are all
  // of the model's, admit.  Axis 0 counts samples: files that differ in it have one size.
  std::vector<SampleSource> BySize(const std::vector<Declared>& inputs) const;

 private:
  friend class SampleOpener;
  friend class SampleCutter;
  struct Random {
    uint64_t seed = 0;
    int64_t count = 0;
  };
  // The arrays of one or more samples: by the names of inputs, or one for each input in order.
  struct Group {
    std::string origin = {};  // a file or folder, for messages
    std::map<std::string, ArrayPtr> named = {};
    std::vector<ArrayPtr> placed = {};
  };
  // The array of an input; null: the group has none.
  static ArrayPtr ArrayOf(const Group& group, const std::vector<Declared>& inputs, size_t input);
  // The extents of each input's samples without axis 0; nullopt if an input does not admit them.
  static std::optional<std::vector<ir::Shape>> SizesOf(const Group& group,
                                                       const std::vector<Declared>& inputs);
  // Decides what the files of a flat folder are: named after the inputs, or a sample each.
  void Settle(const std::vector<std::string>& inputs);

  SampleOptions options_ = {};
  std::vector<Group> groups_ = {};
  bool flat_ = false;  // each group is one .npy, named after its file
  std::optional<Random> random_ = {};
  std::string origin_ = {};  // of random samples
  std::optional<std::vector<int64_t>> labels_ = {};
  bool images_ = false;                   // whether any file is an image
  std::vector<std::string> unread_ = {};  // images in formats that are not read
  std::map<std::string, ArrayPtr> values_ = {};
};

// One input of a model, with its shape bound.  Lists of them keep the model's order of inputs.
struct SampleInput {
  std::string name = {};
  ir::Type type = {};
  bool dynamic_batch = false;
  bool held = false;  // a value inside of the model, whose array FindValue has
};

// Where an element of an input's tensor in a batch was read from.
struct SampleOrigin {
  std::string file = {};
  std::string array = {};  // of a .npz; empty: the file holds one array
  ir::Shape shape = {};    // of the array
  int64_t first = 0;       // the element's place in the array
};
class SampleOrigins {
 public:
  using Find = std::function<SampleOrigin(int64_t batch, size_t input, int64_t element)>;

  SampleOrigins() = default;
  explicit SampleOrigins(Find find) : find_(std::move(find)) {}
  explicit operator bool() const { return find_ != nullptr; }
  SampleOrigin operator()(int64_t batch, size_t input, int64_t element = 0) const {
    return find_(batch, input, element);
  }

 private:
  Find find_ = {};
};

inline constexpr size_t kMostUnused = 8;

struct Samples {
  ir::Batches batches = {};                         // types match the inputs exactly
  int64_t count = 0;                                // samples in all batches
  std::optional<std::vector<int64_t>> labels = {};  // one per sample
  std::vector<int64_t> numbers = {};                // of the samples as given; empty: 0, 1, ..
  bool random = false;                              // "random:SEED[:N]"
  bool image_unused = false;                        // --image is given, but no file is an image
  SampleOrigins origin = {};                        // null for samples that are drawn
  // Of the arrays that nothing reads: a sentence for each, at most kMostUnused.
  std::vector<std::string> unused = {};
};

// kInvalidArgument names the input whose array is missing, has another type or shape, or cannot be
// cut into whole batches.  Samples are read, or drawn, when their batch is read; kTooLarge if
// random ones are more than `most_bytes` together (0: no limit).
Result<Samples> CutSamples(const SampleSource& source, const std::vector<SampleInput>& inputs,
                           int64_t most_bytes = 0);

// The elements that all samples share for the input `input`, the only one of `source`;
// kUnimplemented if the samples differ, because the input decides a shape.  nullopt for random
// samples.
Result<std::optional<ir::Tensor>> CommonValue(const SampleSource& source, const SampleInput& input,
                                              const StopToken& stop = {});

}  // namespace octavo::data
