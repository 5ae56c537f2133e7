// SPDX-License-Identifier: Apache-2.0
#include "server/convert/message_check.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <map>
#include <string>

namespace octavo::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

constexpr int kMaxDepth = 16;

Failure Malformed() {
  return Fail(Code::kInvalidArgument, "it is not a valid protobuf message").Reason("MALFORMED");
}

Failure TooMany(const std::string& path, int64_t limit, std::string_view what) {
  return Fail(Code::kInvalidArgument, "{}: more than {} {}", path, limit, what)
      .Field(path)
      .Reason("INVALID_SPEC");
}

class Checker {
 public:
  Checker(google::protobuf::io::ZeroCopyInputStream& bytes, const MessageBounds& bounds)
      : in_(&bytes), bounds_(bounds) {}

  Status Run(const FieldDescriptor& bounded) {
    int64_t bytes = 0;
    while (const uint32_t tag = in_.ReadTag()) {
      const bool inside =
          WireFormatLite::GetTagFieldNumber(tag) == bounded.number() &&
          WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
      if (!inside) {
        if (!SkipValue(tag)) return Malformed();
        continue;
      }
      uint32_t size = 0;
      if (!in_.ReadVarint32(&size)) return Malformed();
      bytes += size;
      if (bytes > bounds_.bytes) return TooMany(bounded.name(), bounds_.bytes, "bytes");
      OCTAVO_CHECK(ReadMessage(*bounded.message_type(), bounded.name(), size, 1));
    }
    if (!in_.ConsumedEntireMessage()) return Malformed();
    return {};
  }

  Status RunWhole(const Descriptor& type, uint32_t size) {
    return ReadMessage(type, "request", size, 0);
  }

 private:
  // Groups are refused: proto3 has none, and they nest without a length.
  bool SkipValue(uint32_t tag) {
    uint64_t number = 0;
    uint32_t size = 0;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT:
        return in_.ReadVarint64(&number);
      case WireFormatLite::WIRETYPE_FIXED64:
        return in_.Skip(8);
      case WireFormatLite::WIRETYPE_FIXED32:
        return in_.Skip(4);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return in_.ReadVarint32(&size) && size <= INT32_MAX && in_.Skip(static_cast<int>(size));
      default:
        return false;
    }
  }

  Status ReadMessage(const Descriptor& type, const std::string& path, uint32_t size, int depth) {
    if (depth > kMaxDepth || size > INT32_MAX) return Malformed();
    const auto limit = in_.PushLimit(static_cast<int>(size));
    while (const uint32_t tag = in_.ReadTag()) {
      OCTAVO_CHECK(ReadField(type, path, tag, depth));
    }
    if (!in_.ConsumedEntireMessage() || in_.BytesUntilLimit() != 0) return Malformed();
    in_.PopLimit(limit);
    return {};
  }

  Status ReadField(const Descriptor& type, const std::string& path, uint32_t tag, int depth) {
    const FieldDescriptor* field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (field == nullptr) {
      if (++unknown_ > bounds_.unknown) return TooMany(path, bounds_.unknown, "unknown fields");
      return SkipValue(tag) ? Status() : Malformed();
    }
    const bool is_message = field->type() == FieldDescriptor::TYPE_MESSAGE;
    if (field->is_repeated()) OCTAVO_CHECK(Count(*field, path));
    const bool delimited =
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (!is_message || !delimited) return SkipValue(tag) ? Status() : Malformed();
    uint32_t size = 0;
    if (!in_.ReadVarint32(&size)) return Malformed();
    return ReadMessage(*field->message_type(), path + '.' + field->name(), size, depth + 1);
  }

  Status Count(const FieldDescriptor& field, const std::string& path) {
    if (field.is_map() || field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (++names_ <= bounds_.names) return {};
      return TooMany(path + '.' + field.name(), bounds_.names, "names in all lists together");
    }
    if (field.type() == FieldDescriptor::TYPE_MESSAGE && ++items_[&field] > bounds_.items) {
      return TooMany(path + '.' + field.name(), bounds_.items, "elements");
    }
    return {};
  }

  google::protobuf::io::CodedInputStream in_;
  const MessageBounds& bounds_;
  std::map<const FieldDescriptor*, int64_t> items_;
  int64_t names_ = 0;
  int64_t unknown_ = 0;
};

}  // namespace

Status CheckMessage(google::protobuf::io::ZeroCopyInputStream& bytes,
                    const FieldDescriptor& bounded, const MessageBounds& bounds) {
  return Checker(bytes, bounds).Run(bounded);
}

Status CheckWholeMessage(google::protobuf::io::ZeroCopyInputStream& bytes, uint32_t size,
                         const Descriptor& type, const MessageBounds& bounds) {
  return Checker(bytes, bounds).RunWhole(type, size);
}

}  // namespace octavo::server
