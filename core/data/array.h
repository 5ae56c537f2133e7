// SPDX-License-Identifier: Apache-2.0
// An array in a file, whose elements are read in parts: a set of samples may be larger than memory.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/base/stop_token.h"
#include "core/ir/tensor.h"

namespace octavo::data {

// Not thread-safe.
class Array {
 public:
  Array(std::string name, ir::DType dtype, ir::Shape shape)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}
  virtual ~Array() = default;

  const std::string& name() const { return name_; }  // for messages
  // Of several arrays in one file, that file; else the array is the file `name`.
  const std::string& file() const { return file_.empty() ? name_ : file_; }
  void SetFile(std::string file) { file_ = std::move(file); }
  ir::DType dtype() const { return dtype_; }
  const ir::Shape& shape() const { return shape_; }

  // Called once a reader with an input of `type` is known; only an image, whose element type is
  // open, changes.
  virtual Status Bind(const ir::Type&) { return {}; }

  // Reads the elements from `first` in row-major order, as many as fill `out`, which holds whole
  // elements in the machine's byte order.  Fastest in order of `first`.  The stop's error within
  // 100 ms of the stop.
  virtual Status Read(int64_t first, std::span<std::byte> out, const StopToken& stop) = 0;

  // Gives back what reading has taken, such as decoders and pages; the next Read takes it again.
  virtual void Release() {}

 protected:
  void SetType(ir::DType dtype, ir::Shape shape) {
    dtype_ = dtype;
    shape_ = std::move(shape);
  }

 private:
  std::string name_;
  std::string file_ = {};
  ir::DType dtype_;
  ir::Shape shape_;
};
using ArrayPtr = std::shared_ptr<Array>;

// Bytes that are read between two looks at a stop.
inline constexpr size_t kReadPart = size_t{1} << 20;

Result<ir::Tensor> ReadWhole(Array& array, const StopToken& stop = {});

// Elements `first` to the end of `to` as elements of `to`'s type, which may be another one if
// CanConvert.  kInvalidArgument names the element if an integer does not fit.
Status ReadAs(Array& array, int64_t first, ir::Tensor& to, const StopToken& stop);

// Whether --cast converts `from` into `to`: numbers into floats, integers into integers.
bool CanConvert(ir::DType from, ir::DType to);

}  // namespace octavo::data
