// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/wire_scanner.h"

#include <set>

#include "core/onnx/wire/wire_fields.h"
#include "core/onnx/wire/wire_schema.h"

namespace octavo::onnx {
namespace {

constexpr int kViewField = 100000;  // Tensor.view
// protobuf writers emit one chunk per packed field; many chunks indicate a malicious file.
constexpr int kMaxChunks = 1024;

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void PutTag(int number, WireType type, std::string& out) {
  PutVarint(static_cast<uint64_t>(number) << 3 | type, out);
}

class Scanner {
 public:
  Scanner(const Blob& blob, const ScanLimits& limits) : blob_(blob), limits_(limits) {}

  Result<Skeleton> Run(Message root) {
    Skeleton skeleton;
    OCTAVO_CHECK(Scan(root, 0, blob_.size(), 1, skeleton.bytes));
    skeleton.views = std::move(views_);
    return skeleton;
  }

 private:
  Status Scan(Message message, size_t at, size_t end, int depth, std::string& out) {
    if (depth > limits_.depth)
      return Malformed(at, fmt::format("messages nested deeper than {}", depth - 1));
    if (++messages_ > limits_.messages) {
      return Fail(Code::kTooLarge, "the model has more than {} parts", limits_.messages);
    }
    std::set<int> seen;
    std::vector<size_t> views;
    std::set<int> one_by_one, packed;
    while (at < end) {
      OCTAVO_TRY(const Field field, NextField(blob_.text(), at, end));
      const FieldRow* row = FindField(message, field.number);
      if (row == nullptr) continue;
      if (!row->repeated && !seen.insert(field.number).second) {
        return Malformed(field.start, fmt::format("field {} given twice", field.number));
      }
      if (!FitsKind(*row, field.type)) {
        return Malformed(field.start, fmt::format("field {} of wire type {}", field.number,
                                                  static_cast<int>(field.type)));
      }
      if (row->payload) (field.type == kWireBytes ? packed : one_by_one).insert(field.number);
      if (row->payload && field.type == kWireBytes) {
        OCTAVO_CHECK(Take(field, views));
      } else {
        OCTAVO_CHECK(Copy(*row, field, depth, out));
      }
    }
    for (const int number : packed) {
      if (one_by_one.count(number))
        return Malformed(end, fmt::format("field {} in two encodings", number));
    }
    for (const size_t view : views) {
      PutTag(kViewField, kWireVarint, out);
      PutVarint(view, out);
    }
    return {};
  }

  static bool FitsKind(const FieldRow& row, WireType type) {
    switch (row.kind) {
      case FieldKind::kVarint:
        return type == kWireVarint;
      case FieldKind::kFixed32:
        return type == kWireFixed32;
      case FieldKind::kBytes:
      case FieldKind::kMessage:
      case FieldKind::kPresence:
        return type == kWireBytes;
      case FieldKind::kVarints:
        return type == kWireVarint || type == kWireBytes;
      case FieldKind::kFixed32s:
        return type == kWireFixed32 || type == kWireBytes;
      case FieldKind::kFixed64s:
        return type == kWireFixed64 || type == kWireBytes;
    }
    return false;
  }

  // Keeps a data field out of the skeleton and records it as a view.
  Status Take(const Field& field, std::vector<size_t>& views) {
    if (views.size() >= kMaxChunks) {
      return Malformed(field.start, fmt::format("a tensor in more than {} pieces", kMaxChunks));
    }
    views.push_back(views_.size());
    views_.push_back({field.number, blob_.Slice(field.begin, field.end - field.begin)});
    return {};
  }

  // Copies a field into the skeleton.
  Status Copy(const FieldRow& row, const Field& field, int depth, std::string& out) {
    if (++fields_ > limits_.fields) {
      return Fail(Code::kTooLarge, "the model has more than {} fields", limits_.fields);
    }
    const std::string_view text = blob_.text();
    std::string child;
    switch (row.kind) {
      case FieldKind::kMessage:
        OCTAVO_CHECK(Scan(row.child, field.begin, field.end, depth + 1, child));
        break;
      case FieldKind::kPresence:
        break;
      default:
        if (out.size() + (field.end - field.start) > limits_.skeleton) return TooLong();
        out.append(text.substr(field.start, field.end - field.start));
        return {};
    }
    if (out.size() + child.size() > limits_.skeleton) return TooLong();
    PutTag(field.number, kWireBytes, out);
    PutVarint(child.size(), out);
    out.append(child);
    return {};
  }

  Failure TooLong() const {
    return Fail(Code::kTooLarge, "the model has more than {} bytes without its weights",
                limits_.skeleton);
  }

  const Blob& blob_;
  const ScanLimits& limits_;
  std::vector<View> views_;
  int64_t messages_ = 0;
  int64_t fields_ = 0;
};

}  // namespace

Result<Skeleton> ScanModel(const Blob& bytes, const ScanLimits& limits) {
  return Scanner(bytes, limits).Run(Message::kModel);
}

Result<Skeleton> ScanTensor(const Blob& bytes, const ScanLimits& limits) {
  return Scanner(bytes, limits).Run(Message::kTensor);
}

}  // namespace octavo::onnx
