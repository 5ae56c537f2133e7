// SPDX-License-Identifier: Apache-2.0
// Samples for the tests of this folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/data/npy.h"
#include "core/data/npz.h"
#include "core/data/samples.h"

namespace octavo::data {

inline Result<ir::Tensor> NoProto(const Blob&) {
  return Fail(Code::kInvalidArgument, "no TensorProto here");
}

inline Result<Samples> Cut(const std::vector<NamedBlob>& blobs,
                           const std::vector<SampleInput>& inputs,
                           const SampleOptions& options = {}) {
  OCTAVO_TRY(const SampleSource source, SampleSource::Open(blobs, NoProto, options));
  return CutSamples(source, inputs);
}

inline ir::Batches::Batch Read(const Result<Samples>& samples, int64_t batch) {
  return samples->batches.Read(batch, {}).value();
}

inline SampleInput Input(const std::string& name, ir::DType dtype, ir::Shape shape) {
  return {.name = name, .type = {dtype, std::move(shape), {}, {}}};
}

inline SampleInput FloatInput(const std::string& name, ir::Shape shape) {
  return Input(name, ir::DType::kF32, std::move(shape));
}

inline NamedBlob Npz(const std::vector<std::pair<std::string, ir::Tensor>>& arrays,
                     const std::string& name = "d.npz") {
  return {name, Blob(WriteNpz(arrays).value())};
}

inline NamedBlob Npy(const std::string& name, const ir::Tensor& tensor) {
  return {name, Blob(WriteNpy(tensor))};
}

}  // namespace octavo::data
