// SPDX-License-Identifier: Apache-2.0
// An array in a format that is parsed as a whole: a TensorProto.
#pragma once

#include "core/data/samples.h"

namespace octavo::data {

class WholeArray : public Array {
 public:
  static Result<ArrayPtr> Open(std::string name, const Blob& bytes, const TensorParser& parse);

  WholeArray(std::string name, const ir::Tensor& tensor, const Blob& bytes,
             const TensorParser& parse)
      : Array(std::move(name), tensor.dtype(), tensor.shape()), bytes_(bytes), parse_(parse) {}

  Status Read(int64_t first, std::span<std::byte> out, const StopToken& stop) override;
  void Release() override;

 private:
  Blob bytes_;
  TensorParser parse_;
  std::optional<ir::Tensor> tensor_ = {};  // while it is read
};

}  // namespace octavo::data
