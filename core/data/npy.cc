// SPDX-License-Identifier: Apache-2.0
#include "core/data/npy.h"

#include <algorithm>
#include <charconv>

namespace octavo::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// numpy itself rejects longer headers in untrusted files.
constexpr size_t kMaxHeader = 10000;
constexpr size_t kMaxRank = 32;

template <class... Args>
Failure Wrong(std::string_view what, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "'{}': {}", what,
              fmt::format(format, std::forward<Args>(args)...))
      .Field(what)
      .Reason("INVALID_NPY");
}

struct TypeWord {
  std::string_view word = {};
  ir::DType dtype = {};
};

// numpy's type letter and size, without the byte order.
constexpr TypeWord kTypes[] = {
    {"f4", ir::DType::kF32}, {"f8", ir::DType::kF64}, {"f2", ir::DType::kF16},
    {"i1", ir::DType::kI8},  {"u1", ir::DType::kU8},  {"i2", ir::DType::kI16},
    {"u2", ir::DType::kU16}, {"i4", ir::DType::kI32}, {"u4", ir::DType::kU32},
    {"i8", ir::DType::kI64}, {"u8", ir::DType::kU64}, {"b1", ir::DType::kBool},
};

struct Header {
  std::string descr = {};
  std::string order = {};
  std::optional<ir::Shape> shape = {};
};

// Parses the header, a Python dictionary with a small grammar of its own:
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  HeaderParser(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  Result<Header> Run() {
    Header header;
    if (!Take('{')) return Bad();
    while (!Take('}')) {
      OCTAVO_TRY(const std::string key, String());
      if (!Take(':')) return Bad();
      OCTAVO_CHECK(Value(key, header));
      Take(',');
    }
    if (header.descr.empty() || header.order.empty() || !header.shape) return Bad();
    return header;
  }

 private:
  Failure Bad() const { return Wrong(what_, "the header is not that of a .npy file"); }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<std::string> String() {
    SkipBlanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return Bad();
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return Bad();
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }

  Result<ir::Shape> Extents() {
    ir::Shape shape;
    if (!Take('(')) return Bad();
    while (!Take(')')) {
      SkipBlanks();
      int64_t extent = 0;
      const char* end = text_.data() + text_.size();
      const auto parsed = std::from_chars(text_.data() + at_, end, extent);
      if (parsed.ec != std::errc() || extent < 0) return Bad();
      at_ = static_cast<size_t>(parsed.ptr - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
      shape.push_back(extent);
      if (shape.size() > kMaxRank) return Wrong(what_, "more than {} axes", kMaxRank);
      if (!Take(',') && !Take(')')) return Bad();
      if (text_[at_ - 1] == ')') return shape;
    }
    return shape;
  }

  Status Value(const std::string& key, Header& header) {
    if (key == "descr") {
      SkipBlanks();
      if (at_ < text_.size() && text_[at_] == '[') {
        return Fail(Code::kUnimplemented, "'{}': arrays of records are not supported", what_)
            .Field(what_);
      }
      OCTAVO_TRY(header.descr, String());
    } else if (key == "fortran_order") {
      SkipBlanks();
      for (const std::string_view word : {"True", "False"}) {
        if (text_.substr(at_, word.size()) != word) continue;
        header.order = word;
        at_ += word.size();
        return {};
      }
      return Bad();
    } else if (key == "shape") {
      OCTAVO_TRY(header.shape, Extents());
    } else {
      return Bad();
    }
    return {};
  }

  std::string_view what_, text_;
  size_t at_ = 0;
};

struct Parts {
  Header header = {};
  size_t data = 0;  // offset of the elements
};

Result<Parts> Split(std::string_view what, std::string_view text) {
  if (text.substr(0, kMagic.size()) != kMagic) return Wrong(what, "not a .npy file");
  if (text.size() < 10) return Wrong(what, "the header is truncated");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(text[i])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return Wrong(what, "unknown format version {}", version);
  const size_t start = version == 1 ? 10 : 12;
  if (text.size() < start) return Wrong(what, "the header is truncated");
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kMaxHeader) return Wrong(what, "its header of {} bytes is too long", length);
  if (length > text.size() - start) return Wrong(what, "the header is truncated");
  OCTAVO_TRY(Header header, HeaderParser(what, text.substr(start, length)).Run());
  return Parts{std::move(header), start + length};
}

}  // namespace

Result<NpyHeader> ReadNpyHeader(std::string_view what, std::string_view head, uint64_t total) {
  OCTAVO_TRY(Parts parts, Split(what, head));
  const std::string& descr = parts.header.descr;
  const std::string_view word = std::string_view(descr).substr(1);
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const TypeWord& row) { return row.word == word; });
  if (type == std::end(kTypes) || std::string_view("<>|=").find(descr[0]) == std::string::npos) {
    return Fail(Code::kUnimplemented, "'{}': elements of type '{}' are not supported", what, descr)
        .Field(what);
  }
  NpyHeader header{.dtype = type->dtype,
                   .shape = std::move(*parts.header.shape),
                   .big_endian = descr[0] == '>',
                   .data = parts.data};
  header.fortran = parts.header.order == "True" && header.shape.size() > 1;
  int64_t size = ir::SizeOf(header.dtype);
  for (const int64_t extent : header.shape) {
    if (__builtin_mul_overflow(size, std::max<int64_t>(extent, 1), &size)) {
      return Wrong(what, "shape {} holds more elements than can be counted",
                   ir::ToString(header.shape));
    }
  }
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end()) size = 0;
  const uint64_t left = total - header.data;
  if (static_cast<uint64_t>(size) != left) {
    return Wrong(what, "shape {} needs {} bytes of elements, but {} are there",
                 ir::ToString(header.shape), size, left);
  }
  return header;
}

Result<ir::Tensor> ReadNpy(std::string_view what, const Blob& bytes) {
  OCTAVO_TRY(const auto array, OpenNpy(what, bytes));
  return ReadWhole(*array);
}

std::string WriteNpy(const ir::Tensor& tensor) {
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const TypeWord& row) { return row.dtype == tensor.dtype(); });
  // numpy has no bfloat16, so its bits are stored as u2.
  const std::string_view word = type == std::end(kTypes) ? "u2" : type->word;
  const std::string_view order = ir::SizeOf(tensor.dtype()) == 1 ? "|" : "<";
  std::string extents = fmt::format("{}", fmt::join(tensor.shape(), ", "));
  if (tensor.rank() == 1) extents += ",";
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   order, word, extents);
  // Magic, version, length, header and newline are padded to a multiple of 64 bytes.
  const size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.append(total - 10 - header.size() - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes()));
  return bytes;
}

}  // namespace octavo::data
