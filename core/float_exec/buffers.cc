// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/buffers.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace octavo::float_exec {
namespace {

constexpr int64_t kAlignment = 64;

std::shared_ptr<std::byte> Allocate(int64_t bytes) {
  void* memory = std::aligned_alloc(kAlignment, static_cast<size_t>(bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](std::byte* data) { std::free(data); }};
}

}  // namespace

ir::Tensor Buffers::Make(ir::DType dtype, const ir::Shape& shape, Start start) {
  const int64_t wanted = ir::NumElements(shape) * ir::SizeOf(dtype);
  int64_t size = (wanted + kAlignment) / kAlignment * kAlignment;
  std::shared_ptr<std::byte> memory;
  // Accept a buffer of up to twice the size.
  if (const auto at = pool_->free.lower_bound(size);
      at != pool_->free.end() && at->first <= 2 * size) {
    size = at->first;
    memory = std::move(at->second);
    pool_->free.erase(at);
  } else {
    memory = Allocate(size);
  }
  if (start == Start::kZeroed) std::memset(memory.get(), 0, static_cast<size_t>(wanted));
  std::byte* data = memory.get();
  std::shared_ptr<void> lease(data, [pool = pool_, memory, size](void*) mutable {
    pool->free.emplace(size, std::move(memory));
  });
  return ir::Tensor(dtype, shape, std::move(lease), data);
}

}  // namespace octavo::float_exec
