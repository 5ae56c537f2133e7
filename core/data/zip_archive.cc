// SPDX-License-Identifier: Apache-2.0
#include "core/data/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <set>

#include "core/base/mapped_pages.h"
#include "core/base/spool.h"

namespace octavo::data {
namespace {

constexpr size_t kPart = size_t{1} << 20;          // bytes between two looks at a stop
constexpr size_t kReleaseAfter = size_t{8} << 20;  // bytes read before pages are released

constexpr zip_int64_t kFewMembers = 16;

template <class... Args>
Failure Wrong(std::string_view what, fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInvalidArgument, "'{}': {}", what,
              fmt::format(format, std::forward<Args>(args)...))
      .Field(what)
      .Reason("INVALID_NPZ");
}

// libzip's words for an error, which an error object owns.
struct ZipError {
  zip_error_t error = {};

  ZipError() { zip_error_init(&error); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error); }
  std::string_view text() { return zip_error_strerror(&error); }
};

}  // namespace

Result<std::shared_ptr<zip>> ZipArchive::Handle() {
  if (auto open = handle_.lock()) return open;
  ZipError error;
  zip_source_t* source =
      zip_source_buffer_create(bytes_.bytes().data(), bytes_.size(), 0, &error.error);
  if (source == nullptr) return Fail(Code::kInternal, "libzip: {}", error.text());
  zip_t* opened = zip_open_from_source(source, ZIP_RDONLY, &error.error);
  if (opened == nullptr) {
    zip_source_free(source);
    return Wrong(what_, "not a zip archive, or a damaged one: {}", error.text());
  }
  // The bytes live as long as the handle, which reads them.
  std::shared_ptr<zip> handle(opened, [bytes = bytes_](zip_t* archive) {
    zip_discard(archive);
    ReleasePages(bytes.bytes());
  });
  handle_ = handle;
  if (zip_get_num_entries(opened, 0) > kFewMembers) kept_ = handle;
  return handle;
}

Result<std::shared_ptr<ZipArchive>> ZipArchive::Open(std::string what, Blob bytes) {
  std::shared_ptr<ZipArchive> archive(new ZipArchive(std::move(what), std::move(bytes)));
  OCTAVO_TRY(const std::shared_ptr<zip> handle, archive->Handle());
  const zip_int64_t count = zip_get_num_entries(handle.get(), 0);
  if (count > kMaxMembers) {
    return Fail(Code::kTooLarge, "'{}' has {} members; at most {} are read", archive->what_, count,
                kMaxMembers);
  }
  std::set<std::string_view> names;
  archive->members_.reserve(static_cast<size_t>(count));
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(handle.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0 ||
        (stat.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) != (ZIP_STAT_NAME | ZIP_STAT_SIZE)) {
      return Wrong(archive->what_, "the entry of member {} is damaged", i);
    }
    ZipMember member{.index = static_cast<uint64_t>(i), .name = stat.name, .size = stat.size};
    archive->members_.push_back(std::move(member));
    if (!names.insert(archive->members_.back().name).second) {
      return Wrong(archive->what_, "member '{}' is listed twice", stat.name);
    }
  }
  return archive;
}

Result<std::unique_ptr<ZipReader>> ZipArchive::Read(const ZipMember& member) {
  OCTAVO_TRY(const std::shared_ptr<zip> handle, Handle());
  zip_stat_t stat;
  if (zip_stat_index(handle.get(), member.index, 0, &stat) != 0) {
    return Wrong(what_, "the entry of member '{}' is damaged", member.name);
  }
  if (stat.encryption_method != ZIP_EM_NONE) {
    return Fail(Code::kUnimplemented, "'{}': member '{}' is encrypted", what_, member.name);
  }
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return Fail(Code::kUnimplemented, "'{}': member '{}' has compression method {}", what_,
                member.name, stat.comp_method);
  }
  zip_file_t* file = zip_fopen_index(handle.get(), member.index, 0);
  if (file == nullptr) {
    return Wrong(what_, "member '{}' cannot be read: {}", member.name, zip_strerror(handle.get()));
  }
  return std::make_unique<ZipReader>(shared_from_this(), handle, member, file);
}

Result<Blob> ZipArchive::Extract(const ZipMember& member, const StopToken& stop) {
  OCTAVO_TRY(const std::unique_ptr<ZipReader> reader, Read(member));
  Spool spool;
  std::vector<std::byte> part(std::min<uint64_t>(kPart, member.size));
  for (uint64_t done = 0; done < member.size; done += part.size()) {
    part.resize(std::min<uint64_t>(kPart, member.size - done));
    OCTAVO_CHECK(reader->Read(part, stop));
    OCTAVO_CHECK(spool.Append(part));
  }
  return spool.Finish();
}

ZipReader::ZipReader(std::shared_ptr<ZipArchive> archive, std::shared_ptr<zip> handle,
                     ZipMember member, zip_file* file)
    : archive_(std::move(archive)),
      handle_(std::move(handle)),
      member_(std::move(member)),
      file_(file) {}

ZipReader::~ZipReader() { zip_fclose(file_); }

Status ZipReader::Read(std::span<std::byte> out, const StopToken& stop) {
  while (!out.empty()) {
    OCTAVO_CHECK(stop.Check());
    const std::span<std::byte> part = out.first(std::min(kPart, out.size()));
    const zip_int64_t got = zip_fread(file_, part.data(), part.size());
    if (got < 0) {
      return Wrong(archive_->what(), "member '{}' is damaged: {}", member_.name,
                   zip_file_strerror(file_));
    }
    if (got == 0) {
      return Wrong(archive_->what(), "member '{}' ends after {} bytes, not after its {}",
                   member_.name, position_, member_.size);
    }
    position_ += static_cast<uint64_t>(got);
    read_ += static_cast<size_t>(got);
    out = out.subspan(static_cast<size_t>(got));
    if (read_ >= kReleaseAfter) {
      read_ = 0;
      ReleasePages(archive_->bytes().bytes());
    }
  }
  return position_ >= member_.size ? CheckEnd() : Status();
}

// libzip compares size and checksum once there is no more to read.
Status ZipReader::CheckEnd() {
  std::byte more = {};
  const zip_int64_t got = zip_fread(file_, &more, 1);
  if (got == 0) return {};
  if (got > 0) {
    return Wrong(archive_->what(), "member '{}' is longer than its {} bytes", member_.name,
                 member_.size);
  }
  return Wrong(archive_->what(), "member '{}' has a wrong checksum or size: {}", member_.name,
               zip_file_strerror(file_));
}

}  // namespace octavo::data
