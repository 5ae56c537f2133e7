// SPDX-License-Identifier: Apache-2.0
// Elements in row-major order with shared ownership: a new writable buffer, or a read-only view of
// bytes with another owner (a mapped model file).  Copying a Tensor copies a pointer, not the
// elements.
#pragma once

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/type.h"

namespace octavo::ir {

class Tensor {
 public:
  Tensor() = default;
  // Zeroed elements, aligned to 64 bytes.
  Tensor(DType dtype, Shape shape);
  // A view of bytes; their number must match the shape exactly.  Bytes that are not aligned to the
  // element size are copied.
  Tensor(DType dtype, Shape shape, const Blob& bytes);
  // A writable buffer that `owner` keeps alive, such as a part of a workspace.
  Tensor(DType dtype, Shape shape, std::shared_ptr<void> owner, std::byte* data);

  template <class T>
  static Tensor Of(Shape shape, const std::vector<T>& values);
  template <class T>
  static Tensor Scalar(T value) {
    return Of<T>({}, {value});
  }
  // A 1-D tensor of integers, the form of shapes and axes.
  static Tensor Ints(const std::vector<int64_t>& values) {
    return Of<int64_t>({static_cast<int64_t>(values.size())}, values);
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t size() const { return size_; }
  int64_t bytes() const { return size_ * SizeOf(dtype_); }
  const std::byte* raw() const { return data_; }
  std::byte* mutable_raw() {
    assert(writable_);
    return const_cast<std::byte*>(data_);
  }
  std::span<const std::byte> raw_bytes() const { return {data_, static_cast<size_t>(bytes())}; }
  // The bytes as a blob that shares ownership.
  Blob ToBlob() const { return Blob(owner_, raw_bytes()); }

  // T must be as wide as the element type (bool elements read as bool or uint8_t).
  template <class T>
  std::span<const T> values() const {
    assert(sizeof(T) == static_cast<size_t>(SizeOf(dtype_)));
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(size_)};
  }
  template <class T>
  std::span<T> mutable_values() {
    assert(sizeof(T) == static_cast<size_t>(SizeOf(dtype_)));
    return {reinterpret_cast<T*>(mutable_raw()), static_cast<size_t>(size_)};
  }

  // Element i widened: an integer type or bool to int64, any type to double.
  int64_t IntAt(int64_t i) const;
  double FloatAt(int64_t i) const;
  // All elements as int64 (integer types and bool).
  std::vector<int64_t> ToInts() const;

  // The same elements under another shape with the same number of elements.
  Tensor Reshaped(Shape shape) const;
  // A writable copy.
  Tensor Clone() const;
  // Same type, shape and bytes.
  bool operator==(const Tensor& other) const;

 private:
  DType dtype_ = DType::kF32;
  Shape shape_ = {0};
  int64_t size_ = 0;
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  bool writable_ = false;
};

template <class T>
Tensor Tensor::Of(Shape shape, const std::vector<T>& values) {
  Tensor tensor(DTypeOf<T>(), std::move(shape));
  assert(tensor.size() == static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.mutable_values<T>().begin());
  return tensor;
}

// A constant's data.  `seed` is set for tensors that a text graph writes as random(seed), so that
// they are printed in this form again.
struct Payload {
  Tensor tensor = {};
  std::optional<uint64_t> seed = {};
};
using PayloadPtr = std::shared_ptr<const Payload>;

inline PayloadPtr MakePayload(Tensor tensor) {
  return std::make_shared<const Payload>(Payload{std::move(tensor), {}});
}

}  // namespace octavo::ir
