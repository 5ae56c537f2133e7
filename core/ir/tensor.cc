// SPDX-License-Identifier: Apache-2.0
#include "core/ir/tensor.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "core/base/mapped_pages.h"

namespace octavo::ir {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLarge = size_t{1} << 20;
// Copies of unaligned bytes of at least this size go to a temporary file: models store weights at
// any offset, and copying all of them into memory would double the model's size.
constexpr size_t kWorthFile = size_t{4} << 20;

// The system gives large blocks that are zero already: writing zeros into 200 MB takes longer than
// a stop may wait.
std::shared_ptr<std::byte> AllocateLarge(size_t size) {
  void* block = std::calloc(1, size + kAlignment);
  if (block == nullptr) throw std::bad_alloc();
  void* memory = block;
  size_t room = size + kAlignment;
  std::align(kAlignment, size, memory, room);
  return {static_cast<std::byte*>(memory), [block](std::byte*) { std::free(block); }};
}

std::shared_ptr<std::byte> Allocate(int64_t bytes) {
  const size_t size = (static_cast<size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  if (size >= kLarge) return AllocateLarge(size);
  void* memory = std::aligned_alloc(kAlignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, size);
  return {static_cast<std::byte*>(memory), [](std::byte* data) { std::free(data); }};
}

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 31;
  const uint32_t fraction = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), size_(NumElements(shape_)), writable_(true) {
  auto memory = Allocate(bytes());
  data_ = memory.get();
  owner_ = std::move(memory);
}

Tensor::Tensor(DType dtype, Shape shape, const Blob& blob)
    : dtype_(dtype), shape_(std::move(shape)), size_(NumElements(shape_)) {
  assert(static_cast<size_t>(bytes()) == blob.size());
  data_ = blob.bytes().data();
  owner_ = blob.owner();
  if (data_ != nullptr && reinterpret_cast<uintptr_t>(data_) % SizeOf(dtype_) == 0) return;
  if (blob.size() >= kWorthFile) {
    const Blob copy = CopyToFile(blob.bytes());
    ReleasePages(blob.bytes());
    data_ = copy.bytes().data();
    owner_ = copy.owner();
    return;
  }
  auto memory = Allocate(bytes());
  if (size_ > 0) std::memcpy(memory.get(), data_, bytes());
  data_ = memory.get();
  owner_ = std::move(memory);
}

Tensor::Tensor(DType dtype, Shape shape, std::shared_ptr<void> owner, std::byte* data)
    : dtype_(dtype),
      shape_(std::move(shape)),
      size_(NumElements(shape_)),
      owner_(std::move(owner)),
      data_(data),
      writable_(true) {}

int64_t Tensor::IntAt(int64_t i) const {
  switch (dtype_) {
    case DType::kI8:
    case DType::kI4:
      return values<int8_t>()[i];
    case DType::kU8:
    case DType::kU4:
    case DType::kBool:
      return values<uint8_t>()[i];
    case DType::kI16:
      return values<int16_t>()[i];
    case DType::kU16:
      return values<uint16_t>()[i];
    case DType::kI32:
      return values<int32_t>()[i];
    case DType::kU32:
      return values<uint32_t>()[i];
    case DType::kI64:
      return values<int64_t>()[i];
    case DType::kU64:
      return static_cast<int64_t>(values<uint64_t>()[i]);
    case DType::kF32:
    case DType::kF64:
    case DType::kF16:
    case DType::kBF16:
      break;
  }
  assert(false && "IntAt of a float tensor");
  return 0;
}

double Tensor::FloatAt(int64_t i) const {
  switch (dtype_) {
    case DType::kF32:
      return values<float>()[i];
    case DType::kF64:
      return values<double>()[i];
    case DType::kF16:
      return HalfToFloat(values<uint16_t>()[i]);
    case DType::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(values<uint16_t>()[i]) << 16);
    case DType::kI8:
    case DType::kU8:
    case DType::kI16:
    case DType::kU16:
    case DType::kI32:
    case DType::kU32:
    case DType::kI64:
    case DType::kU64:
    case DType::kBool:
    case DType::kI4:
    case DType::kU4:
      break;
  }
  return static_cast<double>(IntAt(i));
}

std::vector<int64_t> Tensor::ToInts() const {
  std::vector<int64_t> ints(size_);
  for (int64_t i = 0; i < size_; ++i) ints[i] = IntAt(i);
  return ints;
}

Tensor Tensor::Reshaped(Shape shape) const {
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  assert(NumElements(tensor.shape_) == size_);
  return tensor;
}

Tensor Tensor::Clone() const {
  Tensor tensor(dtype_, shape_);
  if (size_ > 0) std::memcpy(tensor.mutable_raw(), data_, bytes());
  return tensor;
}

bool Tensor::operator==(const Tensor& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ &&
         (size_ == 0 || std::memcmp(data_, other.data_, bytes()) == 0);
}

}  // namespace octavo::ir
