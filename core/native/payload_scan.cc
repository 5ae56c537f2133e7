// SPDX-License-Identifier: Apache-2.0
#include "core/native/payload_scan.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "core/native/native.h"
#include "octavo/v1/graph.pb.h"

namespace octavo::native {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr size_t kMaxSkeleton = size_t{1} << 30;
constexpr uint32_t kPayloadTag = WireFormatLite::MakeTag(v1::Graph::kPayloadsFieldNumber,
                                                         WireFormatLite::WIRETYPE_LENGTH_DELIMITED);

// Walks the outermost fields; every step is checked against the end.
class Walk {
 public:
  explicit Walk(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  bool done() const { return at_ == bytes_.size(); }

  Result<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (done()) return Truncated();
      const auto byte = static_cast<uint64_t>(bytes_[at_++]);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Malformed("a number of more than 64 bits");
  }

  Status Skip(uint64_t count) {
    if (count > bytes_.size() - at_) return Truncated();
    at_ += count;
    return {};
  }

  // The field's bytes where it has a length of its own, else none.
  Status SkipField(uint32_t tag) {
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT: {
        OCTAVO_TRY(const uint64_t ignored, Varint());
        static_cast<void>(ignored);
        return {};
      }
      case WireFormatLite::WIRETYPE_FIXED64:
        return Skip(8);
      case WireFormatLite::WIRETYPE_FIXED32:
        return Skip(4);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        OCTAVO_TRY(const uint64_t length, Varint());
        return Skip(length);
      }
      case WireFormatLite::WIRETYPE_START_GROUP:
      case WireFormatLite::WIRETYPE_END_GROUP:
        break;
    }
    return Malformed("a field of an unknown kind");
  }

 private:
  Failure Truncated() const {
    return Fail(Code::kInvalidArgument, "the graph ends within a field, after {} bytes",
                bytes_.size())
        .Reason("TRUNCATED");
  }
  Failure Malformed(std::string_view what) const {
    return Fail(Code::kInvalidArgument, "not an Octavo graph: {} at byte {}", what, at_)
        .Reason("MALFORMED");
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace

Result<Split> SplitPayloads(const Blob& bytes) {
  Split split;
  Walk walk(bytes.bytes());
  while (!walk.done()) {
    const size_t begin = walk.at();
    OCTAVO_TRY(const uint64_t tag, walk.Varint());
    if (tag == kPayloadTag) {
      OCTAVO_TRY(const uint64_t length, walk.Varint());
      const size_t start = walk.at();
      OCTAVO_CHECK(walk.Skip(length));
      split.payloads.push_back(bytes.Slice(start, length));
      continue;
    }
    OCTAVO_CHECK(walk.SkipField(static_cast<uint32_t>(tag)));
    if (walk.at() - begin > kMaxSkeleton - split.skeleton.size()) {
      return Fail(Code::kTooLarge, "a graph of more than 1 GiB without its constant data");
    }
    split.skeleton += bytes.text().substr(begin, walk.at() - begin);
  }
  return split;
}

bool IsGraph(const Blob& bytes) {
  constexpr uint32_t kOutputsTag = WireFormatLite::MakeTag(
      v1::Graph::kOutputsFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  Walk walk(bytes.bytes());
  while (!walk.done()) {
    const Result<uint64_t> tag = walk.Varint();
    if (!tag) return false;
    if (*tag == kOutputsTag) return true;
    if (!walk.SkipField(static_cast<uint32_t>(*tag))) return false;
  }
  return false;
}

void AppendPayload(std::string& bytes, std::span<const std::byte> payload) {
  uint8_t head[20];
  uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(kPayloadTag, head);
  end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(payload.size(), end);
  bytes.append(head, end);
  bytes.append(reinterpret_cast<const char*>(payload.data()), payload.size());
}

}  // namespace octavo::native
