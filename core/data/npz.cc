// SPDX-License-Identifier: Apache-2.0
#include "core/data/npz.h"

#include <zlib.h>

#include <algorithm>

#include "core/data/npy.h"

namespace octavo::data {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kCentralHeader = 0x02014b50;
constexpr uint32_t kEndRecord = 0x06054b50;
constexpr uint32_t kEndRecord64 = 0x06064b50;
constexpr uint32_t kEndLocator64 = 0x07064b50;
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint32_t kIn64 = 0xffffffff;  // the value is in the 64-bit extra field

template <class... Args>
Failure Wrong(std::string_view what, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "'{}': {}", what,
              fmt::format(format, std::forward<Args>(args)...))
      .Field(what)
      .Reason("INVALID_NPZ");
}

struct Member {
  std::string name = {};
  uint16_t method = 0;
  uint16_t flags = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, offset = 0;
};

// Reads little-endian fields with bounds checks.
class Reader {
 public:
  Reader(std::string_view what, const Blob& bytes) : what_(what), bytes_(bytes) {}

  bool Holds(uint64_t at, uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  uint64_t Number(uint64_t at, int width) const {
    uint64_t value = 0;
    for (int i = width; i-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(bytes_.bytes()[at + static_cast<uint64_t>(i)]);
    }
    return value;
  }

  Result<std::vector<Member>> Directory(const NpzLimits& limits) const {
    OCTAVO_TRY(uint64_t end, EndRecord());
    uint64_t count = Number(end + 10, 2), at = Number(end + 16, 4);
    if ((at == kIn64 || count == 0xffff) && end >= 20 && Number(end - 20, 4) == kEndLocator64) {
      const uint64_t end64 = Number(end - 12, 8);
      if (!Holds(end64, 56) || Number(end64, 4) != kEndRecord64) {
        return Wrong(what_, "the archive's end record is damaged");
      }
      count = Number(end64 + 32, 8);
      at = Number(end64 + 48, 8);
    }
    if (count > limits.members) {
      return Fail(Code::kTooLarge, "'{}' has {} members; at most {} are read", what_, count,
                  limits.members);
    }
    std::vector<Member> members;
    for (uint64_t i = 0; i < count; ++i) {
      if (!Holds(at, 46) || Number(at, 4) != kCentralHeader) {
        return Wrong(what_, "the archive's directory is damaged");
      }
      OCTAVO_TRY(Member member, Entry(at));
      members.push_back(std::move(member));
      at += 46 + Number(at + 28, 2) + Number(at + 30, 2) + Number(at + 32, 2);
    }
    return members;
  }

  // The member's bytes as stored.
  Result<Blob> Packed(const Member& member) const {
    if (!Holds(member.offset, 30) || Number(member.offset, 4) != kLocalHeader) {
      return Wrong(what_, "member '{}' is not where the directory says", member.name);
    }
    const uint64_t at =
        member.offset + 30 + Number(member.offset + 26, 2) + Number(member.offset + 28, 2);
    if (!Holds(at, member.packed)) return Wrong(what_, "member '{}' is truncated", member.name);
    return bytes_.Slice(at, member.packed);
  }

 private:
  // The end record precedes a comment of at most 65,535 bytes.
  Result<uint64_t> EndRecord() const {
    if (bytes_.size() < 22) return Wrong(what_, "not a zip archive");
    const uint64_t last = bytes_.size() - 22;
    for (uint64_t back = 0; back <= std::min<uint64_t>(last, 0xffff); ++back) {
      if (Number(last - back, 4) == kEndRecord && Number(last - back + 20, 2) == back) {
        return last - back;
      }
    }
    return Wrong(what_, "not a zip archive, or truncated");
  }

  Result<Member> Entry(uint64_t at) const {
    const uint64_t name = Number(at + 28, 2), extra = Number(at + 30, 2);
    if (!Holds(at + 46, name + extra)) return Wrong(what_, "the archive's directory is truncated");
    Member member{.name = std::string(bytes_.text().substr(at + 46, name)),
                  .method = static_cast<uint16_t>(Number(at + 10, 2)),
                  .flags = static_cast<uint16_t>(Number(at + 8, 2)),
                  .crc = static_cast<uint32_t>(Number(at + 16, 4)),
                  .packed = Number(at + 20, 4),
                  .size = Number(at + 24, 4),
                  .offset = Number(at + 42, 4)};
    // Extra field 1 holds, in this order, those of the three values that did not fit.
    for (uint64_t field = at + 46 + name; field + 4 <= at + 46 + name + extra;) {
      const uint64_t length = Number(field + 2, 2);
      if (field + 4 + length > at + 46 + name + extra) break;
      uint64_t value = field + 4;
      for (uint64_t* slot : {&member.size, &member.packed, &member.offset}) {
        if (Number(field, 2) != 1 || *slot != kIn64 || value + 8 > field + 4 + length) continue;
        *slot = Number(value, 8);
        value += 8;
      }
      field += 4 + length;
    }
    return member;
  }

  std::string_view what_;
  const Blob& bytes_;
};

// Inflates until the stream ends; never holds more than `budget` bytes, whatever size the archive
// claims.
Result<Blob> Inflate(std::string_view what, const Member& member, const Blob& packed,
                     uint64_t budget) {
  if (member.size > budget) {
    return Fail(Code::kTooLarge, "'{}': member '{}' claims {} bytes, {} are left of the limit",
                what, member.name, member.size, budget);
  }
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Fail(Code::kInternal, "zlib failed");
  std::string out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.bytes().data()));
  uint64_t left = packed.size();
  int state = Z_OK;
  while (state == Z_OK && out.size() <= member.size) {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(std::min<uint64_t>(left, 1 << 30));
      left -= stream.avail_in;
    }
    // The buffer grows with the actual output.
    const size_t before = out.size();
    out.resize(before + std::clamp<size_t>(before, 1 << 16, 64 << 20));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(out.size() - before);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || out.size() != member.size) {
    return Wrong(what, "member '{}' does not inflate to its {} bytes", member.name, member.size);
  }
  return Blob(std::move(out));
}

uint32_t Crc(std::span<const std::byte> bytes) {
  uLong crc = crc32(0, nullptr, 0);
  for (size_t at = 0; at < bytes.size();) {
    const size_t part = std::min<size_t>(bytes.size() - at, 1 << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data() + at), static_cast<uInt>(part));
    at += part;
  }
  return static_cast<uint32_t>(crc);
}

Result<Blob> Unpack(std::string_view what, const Reader& reader, const Member& member,
                    uint64_t budget) {
  if (member.flags & 1) {
    return Fail(Code::kUnimplemented, "'{}': member '{}' is encrypted", what, member.name);
  }
  if (member.method != kStored && member.method != kDeflated) {
    return Fail(Code::kUnimplemented, "'{}': member '{}' has compression method {}", what,
                member.name, member.method);
  }
  OCTAVO_TRY(Blob bytes, reader.Packed(member));
  if (member.method == kDeflated) {
    OCTAVO_TRY(bytes, Inflate(what, member, bytes, budget));
  } else if (member.size != member.packed) {
    return Wrong(what, "member '{}' is stored but has two sizes", member.name);
  }
  if (Crc(bytes.bytes()) != member.crc) {
    return Wrong(what, "member '{}' has a wrong checksum", member.name);
  }
  return bytes;
}

}  // namespace

Result<std::map<std::string, ir::Tensor>> ReadNpz(std::string_view what, const Blob& bytes,
                                                  const NpzLimits& limits) {
  const Reader reader(what, bytes);
  OCTAVO_TRY(const std::vector<Member> members, reader.Directory(limits));
  std::map<std::string, ir::Tensor> arrays;
  auto budget = static_cast<uint64_t>(limits.bytes);
  for (const Member& member : members) {
    if (!member.name.ends_with(".npy")) continue;
    OCTAVO_TRY(const Blob npy, Unpack(what, reader, member, budget));
    if (member.method == kDeflated) budget -= npy.size();
    std::string name = member.name.substr(0, member.name.size() - 4);
    OCTAVO_TRY(ir::Tensor tensor, ReadNpy(name, npy));
    if (!arrays.emplace(name, std::move(tensor)).second) {
      return Wrong(what, "member '{}' is listed twice", member.name);
    }
  }
  if (arrays.empty()) return Wrong(what, "it contains no array");
  return arrays;
}

namespace {

void Put(std::string& out, uint64_t value, int width) {
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

// Writes the fields that a member's local header and its directory entry share.  Sizes are always
// in a 64-bit extra field, so that one form suffices.
void PutCommon(std::string& out, const Member& member, size_t extra) {
  Put(out, 45, 2);       // version needed: 64-bit sizes
  Put(out, 1 << 11, 2);  // names are UTF-8
  Put(out, kStored, 2);
  Put(out, 0, 2);     // midnight
  Put(out, 0x21, 2);  // 1 January 1980
  Put(out, member.crc, 4);
  Put(out, kIn64, 4);
  Put(out, kIn64, 4);
  Put(out, member.name.size(), 2);
  Put(out, extra, 2);
}

void PutEnd(std::string& out, uint64_t count, uint64_t directory) {
  const uint64_t end = out.size();
  Put(out, kEndRecord64, 4);
  Put(out, 44, 8);
  Put(out, 45, 2);
  Put(out, 45, 2);
  Put(out, 0, 8);
  Put(out, count, 8);
  Put(out, count, 8);
  Put(out, end - directory, 8);
  Put(out, directory, 8);
  Put(out, kEndLocator64, 4);
  Put(out, 0, 4);
  Put(out, end, 8);
  Put(out, 1, 4);
  Put(out, kEndRecord, 4);
  Put(out, 0, 4);
  Put(out, std::min<uint64_t>(count, 0xffff), 2);
  Put(out, std::min<uint64_t>(count, 0xffff), 2);
  Put(out, kIn64, 4);
  Put(out, kIn64, 4);
  Put(out, 0, 2);
}

}  // namespace

std::string WriteNpz(const std::vector<std::pair<std::string, ir::Tensor>>& arrays) {
  std::string out, directory;
  for (const auto& [name, tensor] : arrays) {
    const std::string npy = WriteNpy(tensor);
    Member member{.name = name + ".npy"};
    member.crc = Crc(std::as_bytes(std::span(npy)));
    member.offset = out.size();
    Put(out, kLocalHeader, 4);
    PutCommon(out, member, 20);
    out += member.name;
    Put(out, 1, 2);
    Put(out, 16, 2);
    Put(out, npy.size(), 8);
    Put(out, npy.size(), 8);
    out += npy;
    Put(directory, kCentralHeader, 4);
    Put(directory, 45, 2);
    PutCommon(directory, member, 28);
    Put(directory, 0, 8);  // comment, disk, attributes
    Put(directory, 0, 2);
    Put(directory, kIn64, 4);
    directory += member.name;
    Put(directory, 1, 2);
    Put(directory, 24, 2);
    Put(directory, npy.size(), 8);
    Put(directory, npy.size(), 8);
    Put(directory, member.offset, 8);
  }
  const uint64_t at = out.size();
  out += directory;
  PutEnd(out, arrays.size(), at);
  return out;
}

}  // namespace octavo::data
