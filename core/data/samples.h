// SPDX-License-Identifier: Apache-2.0
// The samples of `--data`, cut into the batches that a model accepts.
//
//   one .npz              an array per input; the leading dimension counts samples
//   one .npy              for a model with a single input
//   "0/input_0.pb", ..    a directory: numbered folders, `input_K.pb` or `.npy` per input
//   "random:SEED[:N]"     N (8) samples, uniform in [-1, 1), or small integers
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/batches.h"

namespace octavo::data {

struct NamedBlob {
  std::string name = {};
  Blob bytes = {};
};

// Parses a TensorProto; the caller supplies it, because only core/onnx knows that format.
using TensorParser = std::function<Result<ir::Tensor>(const Blob&)>;

// The arrays as read, not yet matched with a model.
class SampleSource {
 public:
  static Result<SampleSource> Open(const std::vector<NamedBlob>& blobs, const TensorParser& parse);

  // The same samples with only the arrays of the inputs `kept`; `inputs` lists all inputs of the
  // model.
  SampleSource Only(const std::vector<std::string>& inputs,
                    const std::vector<std::string>& kept) const;

  bool random() const { return random_.has_value(); }

  // The shapes that bind a model's dynamic extents, by input name (for numbered samples by
  // position: "0", "1"..).  Empty for random samples.
  std::map<std::string, ir::Shape> Shapes(const std::vector<std::string>& inputs) const;

 private:
  friend class SampleCutter;
  struct Random {
    uint64_t seed = 0;
    int64_t count = 0;
  };
  std::string origin_;
  std::map<std::string, ir::Tensor> arrays_;       // .npz
  std::optional<ir::Tensor> single_;               // .npy
  std::vector<std::vector<ir::Tensor>> numbered_;  // [sample][input]
  std::optional<Random> random_;
};

// One input of a model, with its shape bound.  Lists of them keep the model's order of inputs.
struct SampleInput {
  std::string name = {};
  ir::Type type = {};
  bool dynamic_batch = false;
};

struct Samples {
  ir::Batches batches = {};  // types match the inputs exactly
  int64_t count = 0;         // samples in all batches
};

// kInvalidArgument names the input whose array is missing, has another type or shape, or cannot be
// cut into whole batches.  Random samples are drawn when their batch is read; kTooLarge if they are
// more than `most_bytes` together (0: no limit).
Result<Samples> CutSamples(const SampleSource& source, const std::vector<SampleInput>& inputs,
                           int64_t most_bytes = 0);

// The elements that all samples share for the input `input`, the only one of `source`;
// kUnimplemented if the samples differ, because the input decides a shape.  nullopt for random
// samples.
Result<std::optional<ir::Tensor>> CommonValue(const SampleSource& source, const SampleInput& input);

}  // namespace octavo::data
