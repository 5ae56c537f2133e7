// SPDX-License-Identifier: Apache-2.0
// Conversion between TensorProto and the graph's tensors.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/tensor.h"
#include "core/onnx/wire/external_data.h"
#include "core/onnx/wire/onnx.pb.h"
#include "core/onnx/wire/wire_scanner.h"

namespace octavo::onnx {

// nullopt for types that a value of any kind cannot have (strings, complex numbers, 4-bit integers,
// 4 and 8 bit floats).
std::optional<ir::DType> DTypeOfWire(int data_type);
int WireOf(ir::DType dtype);
// "FLOAT16", for messages; the number itself if ONNX defines no such type.
std::string WireName(int data_type);

// INT4 and UINT4: two elements per byte, the first in the lower half.  Reading a constant widens it
// to i8 or u8: only what is quantized in blocks keeps 4 bits (blocks.h).
bool IsFourBit(int data_type);
ir::DType FourBitsOfWire(int data_type);
// The 4-bit type that was widened to i8 or u8.
inline ir::DType FourBitsOf(ir::DType widened) {
  return ir::IsSigned(widened) ? ir::DType::kI4 : ir::DType::kU4;
}
// The same elements under another type of the same width.
ir::Tensor WithDType(const ir::Tensor& tensor, ir::DType dtype);

// Where a tensor's data may be stored.
struct TensorSource {
  const std::vector<View>& views;
  const ExternalData& external;
};

// The elements, as a view of the bytes if possible.  Checks the dimensions against the length of
// the data before it allocates anything.  kInvalidArgument names the tensor.
Result<ir::Tensor> ReadTensor(const onnx_wire::Tensor& proto, const TensorSource& source);

// Parses a whole file with one TensorProto, the form of samples in ONNX's test data.
Result<ir::Tensor> ParseTensor(const Blob& bytes);

// Appends the elements to `proto` as raw_data.
void WriteTensor(std::string_view name, const ir::Tensor& tensor, onnx_wire::Tensor& proto);

}  // namespace octavo::onnx
