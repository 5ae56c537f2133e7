// SPDX-License-Identifier: Apache-2.0
// What the runs of a model read: for each batch a tensor per input, held or made when it is read.
#pragma once

#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core/base/stop_token.h"
#include "core/ir/tensor.h"

namespace octavo::ir {

class Batches {
 public:
  using Batch = std::vector<Tensor>;
  // Must return equal tensors for equal numbers, and the token's error soon after it is stopped.
  using Maker = std::function<Result<Batch>(int64_t number, const StopToken& stop)>;

  Batches() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a list of batches is one.
  Batches(std::vector<Batch> held) : held_(std::move(held)) {}
  Batches(std::initializer_list<Batch> held) : held_(held) {}
  // Batches that are made anew each time: none is kept.
  Batches(int64_t size, Maker maker) : made_(size), maker_(std::move(maker)) {}

  int64_t size() const { return maker_ ? made_ : static_cast<int64_t>(held_.size()); }
  bool empty() const { return size() == 0; }
  Result<Batch> Read(int64_t number, const StopToken& stop) const {
    if (maker_) return maker_(number, stop);
    OCTAVO_CHECK(stop.Check());
    return held_[static_cast<size_t>(number)];
  }

 private:
  std::vector<Batch> held_;
  int64_t made_ = 0;
  Maker maker_ = {};
};

}  // namespace octavo::ir
