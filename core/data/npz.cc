// SPDX-License-Identifier: Apache-2.0
#include "core/data/npz.h"

#include <algorithm>

#include "core/data/npy.h"
#include "core/data/npy_elements.h"

namespace octavo::data {
namespace {

class MemberArray : public Array {
 public:
  MemberArray(std::string name, const NpyHeader& header, std::shared_ptr<ZipArchive> archive,
              ZipMember member)
      : Array(std::move(name), header.dtype, header.shape),
        header_(header),
        archive_(std::move(archive)),
        member_(std::move(member)) {}

  Status Read(int64_t first, std::span<std::byte> out, const StopToken& stop) override {
    if (header_.fortran) return ReadFortran(first, out, stop);
    const uint64_t begin =
        header_.data + static_cast<uint64_t>(first) * static_cast<uint64_t>(ir::SizeOf(dtype()));
    OCTAVO_CHECK(SkipTo(begin, stop));
    for (size_t done = 0; done < out.size(); done += kReadPart) {
      const std::span<std::byte> part = out.subspan(done, std::min(kReadPart, out.size() - done));
      OCTAVO_CHECK(reader_->Read(part, stop));
      OCTAVO_CHECK(FinishElements(name(), header_, part));
    }
    return {};
  }

  void Release() override {
    reader_.reset();
    extracted_ = {};
  }

 private:
  // Inflating goes only forward, and the start is the only place to begin.
  Status SkipTo(uint64_t begin, const StopToken& stop) {
    if (!reader_ || reader_->position() > begin) {
      OCTAVO_TRY(reader_, archive_->Read(member_));
    }
    std::vector<std::byte> skipped(std::min<uint64_t>(kReadPart, begin - reader_->position()));
    while (reader_->position() < begin) {
      const uint64_t left = begin - reader_->position();
      skipped.resize(std::min<uint64_t>(skipped.size(), left));
      OCTAVO_CHECK(reader_->Read(skipped, stop));
    }
    return {};
  }

  // Elements of any place are needed from the first one on: the member goes to a temporary file.
  Status ReadFortran(int64_t first, std::span<std::byte> out, const StopToken& stop) {
    if (!extracted_) {
      OCTAVO_TRY(const Blob bytes, archive_->Extract(member_, stop));
      OCTAVO_TRY(extracted_, OpenNpy(name(), bytes));
    }
    return extracted_->Read(first, out, stop);
  }

  NpyHeader header_;
  std::shared_ptr<ZipArchive> archive_;
  ZipMember member_;
  std::unique_ptr<ZipReader> reader_ = {};
  ArrayPtr extracted_ = {};
};

}  // namespace

Result<ArrayPtr> OpenMember(std::string name, const std::shared_ptr<ZipArchive>& archive,
                            const ZipMember& member) {
  OCTAVO_TRY(const std::unique_ptr<ZipReader> reader, archive->Read(member));
  std::string head(std::min<uint64_t>(kMaxNpyHead, member.size), '\0');
  OCTAVO_CHECK(reader->Read(std::as_writable_bytes(std::span(head)), {}));
  OCTAVO_TRY(const NpyHeader header, ReadNpyHeader(name, head, member.size));
  return std::make_shared<MemberArray>(std::move(name), header, archive, member);
}

Result<std::map<std::string, ArrayPtr>> OpenNpz(std::string_view what, const Blob& bytes) {
  OCTAVO_TRY(const std::shared_ptr<ZipArchive> archive, ZipArchive::Open(std::string(what), bytes));
  std::map<std::string, ArrayPtr> arrays;
  for (const ZipMember& member : archive->members()) {
    if (!member.name.ends_with(".npy")) continue;
    std::string name = member.name.substr(0, member.name.size() - 4);
    OCTAVO_TRY(arrays[name], OpenMember(name, archive, member));
  }
  if (arrays.empty()) {
    return Fail(Code::kInvalidArgument, "'{}': it contains no array", what)
        .Field(what)
        .Reason("INVALID_NPZ");
  }
  return arrays;
}

Result<std::string> WriteNpz(const std::vector<std::pair<std::string, ir::Tensor>>& arrays) {
  std::vector<ZipInput> members;
  for (const auto& [name, tensor] : arrays) {
    members.push_back({name + ".npy", Blob(WriteNpy(tensor))});
  }
  OCTAVO_TRY(const Blob packed, PackZip(members));
  return std::string(packed.text());
}

}  // namespace octavo::data
