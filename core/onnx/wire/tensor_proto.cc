// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/tensor_proto.h"

#include <charconv>
#include <cstring>

#include "core/ir/four_bits.h"

namespace octavo::onnx {
namespace {

using Wire = onnx_wire::Tensor;

struct TypeRow {
  int wire = 0;
  ir::DType dtype = {};
  int field = 0;  // the typed field for the elements if raw_data is absent
};

constexpr TypeRow kTypes[] = {
    {Wire::FLOAT, ir::DType::kF32, Wire::kFloatDataFieldNumber},
    {Wire::DOUBLE, ir::DType::kF64, Wire::kDoubleDataFieldNumber},
    {Wire::FLOAT16, ir::DType::kF16, Wire::kInt32DataFieldNumber},
    {Wire::BFLOAT16, ir::DType::kBF16, Wire::kInt32DataFieldNumber},
    {Wire::INT8, ir::DType::kI8, Wire::kInt32DataFieldNumber},
    {Wire::UINT8, ir::DType::kU8, Wire::kInt32DataFieldNumber},
    {Wire::INT16, ir::DType::kI16, Wire::kInt32DataFieldNumber},
    {Wire::UINT16, ir::DType::kU16, Wire::kInt32DataFieldNumber},
    {Wire::INT32, ir::DType::kI32, Wire::kInt32DataFieldNumber},
    {Wire::UINT32, ir::DType::kU32, Wire::kUint64DataFieldNumber},
    {Wire::INT64, ir::DType::kI64, Wire::kInt64DataFieldNumber},
    {Wire::UINT64, ir::DType::kU64, Wire::kUint64DataFieldNumber},
    {Wire::BOOL, ir::DType::kBool, Wire::kInt32DataFieldNumber},
    {Wire::INT4, ir::DType::kI4, Wire::kInt32DataFieldNumber},
    {Wire::UINT4, ir::DType::kU4, Wire::kInt32DataFieldNumber},
};

const TypeRow* FindType(int wire) {
  for (const TypeRow& row : kTypes) {
    if (row.wire == wire) return &row;
  }
  return nullptr;
}

template <class... Args>
Failure Wrong(const Wire& proto, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "tensor '{}': {}", proto.name(),
              fmt::format(format, std::forward<Args>(args)...))
      .Field(proto.name())
      .Reason("INVALID_TENSOR");
}

Result<ir::Shape> ShapeOf(const Wire& proto, int element_size) {
  ir::Shape shape(proto.dims().begin(), proto.dims().end());
  int64_t bytes = element_size;
  for (const int64_t extent : shape) {
    if (extent < 0) return Wrong(proto, "extent {} is negative", extent);
    // Treats an extent of 0 as 1, so that no partial product can overflow later.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) {
      return Wrong(proto, "shape {} holds more elements than can be counted", ir::ToString(shape));
    }
  }
  return shape;
}

Result<std::vector<uint64_t>> Varints(const Wire& proto, std::span<const std::byte> bytes) {
  std::vector<uint64_t> values;
  uint64_t value = 0;
  int shift = 0;
  for (const std::byte byte : bytes) {
    if (shift > 63) return Wrong(proto, "an element of more than 64 bits");
    value |= (static_cast<uint64_t>(byte) & 0x7f) << shift;
    shift += 7;
    if (static_cast<uint64_t>(byte) < 0x80) {
      values.push_back(value);
      value = 0;
      shift = 0;
    }
  }
  if (shift != 0) return Wrong(proto, "its data ends within an element");
  return values;
}

// Reads elements stored as varints and truncates each to the element's width (ONNX stores narrow
// integers and the bits of 16-bit floats like this).
Status FillFromVarints(const Wire& proto, const std::vector<uint64_t>& values, ir::Tensor& tensor,
                       int64_t& filled) {
  const size_t width = static_cast<size_t>(ir::SizeOf(tensor.dtype()));
  if (static_cast<int64_t>(values.size()) > tensor.size() - filled) {
    return Wrong(proto, "more elements than its shape {} holds", ir::ToString(tensor.shape()));
  }
  for (const uint64_t value : values) {
    if (tensor.dtype() == ir::DType::kBool && value > 1) return Wrong(proto, "a bool is {}", value);
    std::memcpy(tensor.mutable_raw() + static_cast<size_t>(filled++) * width, &value, width);
  }
  return {};
}

// Reads typed fields: packed ones (views) or single elements (in the skeleton).
Result<ir::Tensor> FromTypedField(const Wire& proto, const TypeRow& type, const ir::Shape& shape,
                                  const TensorSource& source) {
  const bool varints =
      type.field != Wire::kFloatDataFieldNumber && type.field != Wire::kDoubleDataFieldNumber;
  std::vector<std::span<const std::byte>> pieces;
  for (const uint32_t view : proto.view()) {
    const View& piece = source.views[view];
    if (piece.field == type.field) pieces.push_back(piece.bytes.bytes());
  }
  // An element of a packed field has at least one byte, so this bounds the allocation.
  int64_t most = proto.float_data_size() + proto.int32_data_size() + proto.int64_data_size() +
                 proto.double_data_size() + proto.uint64_data_size();
  for (const auto& piece : pieces) most += static_cast<int64_t>(piece.size());
  const int64_t elements = ir::NumElements(shape);
  if (elements > most) {
    return Wrong(proto, "shape {} needs {} elements, but its data is shorter", ir::ToString(shape),
                 elements);
  }
  ir::Tensor tensor(type.dtype, shape);
  int64_t filled = 0;
  for (const auto& piece : pieces) {
    if (varints) {
      OCTAVO_TRY(const std::vector<uint64_t> values, Varints(proto, piece));
      OCTAVO_CHECK(FillFromVarints(proto, values, tensor, filled));
      continue;
    }
    const int64_t width = ir::SizeOf(type.dtype);
    const auto size = static_cast<int64_t>(piece.size());
    if (size % width != 0 || size / width > elements - filled) {
      return Wrong(proto, "its data of {} bytes does not fill shape {}", size, ir::ToString(shape));
    }
    if (size > 0) std::memcpy(tensor.mutable_raw() + filled * width, piece.data(), piece.size());
    filled += size / width;
  }
  std::vector<uint64_t> singles(proto.int32_data().begin(), proto.int32_data().end());
  if (type.field == Wire::kInt64DataFieldNumber) {
    singles.assign(proto.int64_data().begin(), proto.int64_data().end());
  } else if (type.field == Wire::kUint64DataFieldNumber) {
    singles.assign(proto.uint64_data().begin(), proto.uint64_data().end());
  } else if (type.field == Wire::kFloatDataFieldNumber) {
    singles.clear();
    for (const float value : proto.float_data()) singles.push_back(std::bit_cast<uint32_t>(value));
  } else if (type.field == Wire::kDoubleDataFieldNumber) {
    singles.clear();
    for (const double v : proto.double_data()) singles.push_back(std::bit_cast<uint64_t>(v));
  }
  OCTAVO_CHECK(FillFromVarints(proto, singles, tensor, filled));
  if (filled != elements) {
    return Wrong(proto, "{} elements, but its shape {} holds {}", filled, ir::ToString(shape),
                 elements);
  }
  return tensor;
}

Result<Blob> ExternalBytes(const Wire& proto, int64_t needed, const ExternalData& external) {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const onnx_wire::StringEntry& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    uint64_t number = 0;
    const std::string& text = entry.value();
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
      return Wrong(proto, "external {} '{}' is not a number", entry.key(), text);
    }
    if (entry.key() == "offset") {
      offset = number;
    } else {
      length = number;
    }
  }
  OCTAVO_CHECK(CheckLocation(location));
  const auto at = external.find(location);
  if (at == external.end()) {
    return Fail(Code::kInvalidArgument, "tensor '{}': external data '{}' was not given",
                proto.name(), location)
        .Field(proto.name())
        .Reason("EXTERNAL_DATA");
  }
  const uint64_t size = length.value_or(static_cast<uint64_t>(needed));
  if (offset > at->second.size() || size > at->second.size() - offset) {
    return Wrong(proto, "external bytes [{}, {} + {}) pass the end of '{}' ({} bytes)", offset,
                 offset, size, location, at->second.size());
  }
  return at->second.Slice(offset, size);
}

Status CheckBools(const Wire& proto, const ir::Tensor& tensor) {
  if (tensor.dtype() != ir::DType::kBool) return {};
  for (const std::byte byte : tensor.raw_bytes()) {
    if (byte > std::byte{1}) return Wrong(proto, "a bool is {}", static_cast<int>(byte));
  }
  return {};
}

// Reads the elements of `shape` as `type` from raw or external data, else from a typed field.
Result<ir::Tensor> ReadElements(const Wire& proto, const TypeRow& type, const ir::Shape& shape,
                                const TensorSource& source) {
  const int64_t bytes = ir::NumElements(shape) * ir::SizeOf(type.dtype);
  const bool external = proto.data_location() == Wire::EXTERNAL;
  std::optional<Blob> raw;
  for (const uint32_t view : proto.view()) {
    if (view >= source.views.size()) return Wrong(proto, "its data is missing");
    if (source.views[view].field == Wire::kRawDataFieldNumber) raw = source.views[view].bytes;
  }
  if (external) {
    if (!proto.view().empty()) return Wrong(proto, "data both inside and outside of the model");
    OCTAVO_TRY(raw, ExternalBytes(proto, bytes, source.external));
  }
  if (!raw) return FromTypedField(proto, type, shape, source);
  if (static_cast<int64_t>(raw->size()) != bytes) {
    return Wrong(proto, "{} bytes of data, but shape {} of {} needs {}", raw->size(),
                 ir::ToString(shape), ir::Name(type.dtype), bytes);
  }
  ir::Tensor tensor(type.dtype, shape, *raw);
  OCTAVO_CHECK(CheckBools(proto, tensor));
  return tensor;
}

}  // namespace

bool IsFourBit(int data_type) { return data_type == Wire::INT4 || data_type == Wire::UINT4; }

ir::DType FourBitsOfWire(int data_type) { return FindType(data_type)->dtype; }

std::optional<ir::DType> DTypeOfWire(int data_type) {
  const TypeRow* row = FindType(data_type);
  return row && !ir::IsFourBit(row->dtype) ? std::optional(row->dtype) : std::nullopt;
}

int WireOf(ir::DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.wire;
  }
  return Wire::UNDEFINED;
}

std::string WireName(int data_type) {
  constexpr std::string_view kNames[] = {
      "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",       "UINT16",   "INT16",
      "INT32",          "INT64",      "STRING",         "BOOL",       "FLOAT16",  "DOUBLE",
      "UINT32",         "UINT64",     "COMPLEX64",      "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN",
      "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",      "INT4"};
  if (data_type < 0 || data_type >= static_cast<int>(std::size(kNames))) {
    return fmt::format("number {}", data_type);
  }
  return std::string(kNames[data_type]);
}

ir::Tensor WithDType(const ir::Tensor& tensor, ir::DType dtype) {
  return ir::Tensor(dtype, tensor.shape(), tensor.ToBlob());
}

Result<ir::Tensor> ReadTensor(const Wire& proto, const TensorSource& source) {
  if (IsFourBit(proto.data_type())) {
    OCTAVO_TRY(const ir::Shape shape, ShapeOf(proto, 1));
    const ir::DType dtype = FourBitsOfWire(proto.data_type());
    const ir::Shape packed = {ir::StoredBytes(dtype, ir::NumElements(shape))};
    OCTAVO_TRY(const ir::Tensor bytes, ReadElements(proto, *FindType(Wire::UINT8), packed, source));
    return WithDType(ir::FromStored(dtype, shape, bytes.ToBlob()),
                     ir::IsSigned(dtype) ? ir::DType::kI8 : ir::DType::kU8);
  }
  const TypeRow* type = FindType(proto.data_type());
  if (type == nullptr) {
    const bool known = Wire::DataType_IsValid(proto.data_type()) && proto.data_type() != 0;
    return Fail(known ? Code::kUnimplemented : Code::kInvalidArgument,
                "tensor '{}': elements of type {} are not {}", proto.name(),
                WireName(proto.data_type()), known ? "supported" : "known")
        .Field(proto.name());
  }
  OCTAVO_TRY(const ir::Shape shape, ShapeOf(proto, ir::SizeOf(type->dtype)));
  return ReadElements(proto, *type, shape, source);
}

Result<ir::Tensor> ParseTensor(const Blob& bytes) {
  OCTAVO_TRY(const Skeleton skeleton, ScanTensor(bytes));
  Wire proto;
  if (!proto.ParseFromString(skeleton.bytes)) {
    return Fail(Code::kInvalidArgument, "not a TensorProto").Reason("MALFORMED");
  }
  const ExternalData none;
  return ReadTensor(proto, {skeleton.views, none});
}

void WriteTensor(std::string_view name, const ir::Tensor& tensor, Wire& proto) {
  for (const int64_t extent : tensor.shape()) proto.add_dims(extent);
  proto.set_data_type(WireOf(tensor.dtype()));
  proto.set_name(std::string(name));
  const Blob stored = ir::ToStored(tensor);
  proto.set_raw_data(stored.bytes().data(), stored.size());
}

}  // namespace octavo::onnx
