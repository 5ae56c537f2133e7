// SPDX-License-Identifier: Apache-2.0
// The samples of `--data`, cut into batches of the model's batch size.
//
//   one .npz              an array per input; the leading dimension counts samples
//   one .npy              for a model with a single input
//   "0/input_0.pb", ..    a directory: numbered folders, `input_K.pb` or `.npy` per input
//   "random:SEED[:N]"     N (8) samples drawn evenly from [-1, 1), or small whole numbers
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/tensor.h"

namespace octavo::data {

struct NamedBlob {
  std::string name = {};
  Blob bytes = {};
};

// Reads a TensorProto.  The caller supplies it, because only core/onnx knows that format.
using TensorParser = std::function<Result<ir::Tensor>(const Blob&)>;

// The arrays as read, before they are matched with the inputs of a model.
class SampleSource {
 public:
  static Result<SampleSource> Open(const std::vector<NamedBlob>& blobs, const TensorParser& parse);

  // The same samples with only the arrays of the inputs `kept`; `inputs` are all of the model's.
  SampleSource Only(const std::vector<std::string>& inputs,
                    const std::vector<std::string>& kept) const;

  bool random() const { return random_.has_value(); }

  // The shapes by input name (or, where samples are numbered, by position "0", "1"..) that bind a
  // model's dynamic extents.  Empty for random samples.
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

// An input of the model, with its bound shape.
struct SampleInput {
  std::string name = {};
  ir::Type type = {};
  bool dynamic_batch = false;
};

struct Samples {
  std::vector<std::vector<ir::Tensor>> batches = {};  // [batch][input], of exactly the types
  int64_t count = 0;                                  // samples in all batches
};

// kInvalidArgument names the input whose array is missing, of another type or of another shape,
// or does not cut into whole batches.
Result<Samples> CutSamples(const SampleSource& source, const std::vector<SampleInput>& inputs);

// The value that all samples have for the only input of `source`, which determines a shape;
// kUnimplemented if they differ.  None for random samples.
Result<std::optional<ir::Tensor>> CommonValue(const SampleSource& source, const SampleInput& input);

}  // namespace octavo::data
