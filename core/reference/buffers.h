// Memory for the values of a run, reused from value to value and from run to run.
#pragma once

#include <map>
#include <memory>

#include "core/ir/tensor.h"

namespace octavo::reference {

class Buffers {
 public:
  // A tensor that may be written; its elements are arbitrary unless `zeroed`.  Its memory comes
  // back here when its last copy goes.
  enum class Start { kArbitrary, kZeroed };
  ir::Tensor Make(ir::DType dtype, const ir::Shape& shape, Start start);

 private:
  struct Shelf {
    std::multimap<int64_t, std::shared_ptr<std::byte>> free = {};
  };
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace octavo::reference
