// SPDX-License-Identifier: Apache-2.0
// A memory pool for values.  Later values and later runs reuse the memory.
#pragma once

#include <map>
#include <memory>

#include "core/ir/tensor.h"

namespace octavo::float_exec {

class Buffers {
 public:
  enum class Start { kArbitrary, kZeroed };
  // Returns a writable tensor.  Its elements are arbitrary unless kZeroed.  Its memory returns to
  // the pool when its last copy is destroyed.
  ir::Tensor Make(ir::DType dtype, const ir::Shape& shape, Start start);

 private:
  struct Pool {
    std::multimap<int64_t, std::shared_ptr<std::byte>> free = {};
  };
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace octavo::float_exec
