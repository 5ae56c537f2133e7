// SPDX-License-Identifier: Apache-2.0
// Zip archives by libzip: members that are stored or deflated, read in order without being held.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/blob.h"
#include "core/base/stop_token.h"

struct zip;
struct zip_file;

namespace octavo::data {

// The most members that an archive may have.
inline constexpr int64_t kMaxMembers = int64_t{1} << 20;

struct ZipMember {
  uint64_t index = 0;
  std::string name = {};
  uint64_t size = 0;  // as the archive claims; untrusted
};

// A member's bytes, in order.  Reading ends where the member does, whatever size it claims.
class ZipReader;

class ZipArchive : public std::enable_shared_from_this<ZipArchive> {
 public:
  // kInvalidArgument (reason INVALID_NPZ) for bytes that are no complete archive or name a member
  // twice, kTooLarge for more than kMaxMembers.
  static Result<std::shared_ptr<ZipArchive>> Open(std::string what, Blob bytes);

  const std::string& what() const { return what_; }
  const Blob& bytes() const { return bytes_; }
  const std::vector<ZipMember>& members() const { return members_; }

  // kUnimplemented for encryption and for compression other than deflate.
  Result<std::unique_ptr<ZipReader>> Read(const ZipMember& member);
  // The whole member, in a temporary file.
  Result<Blob> Extract(const ZipMember& member, const StopToken& stop);

 private:
  friend class ZipReader;
  ZipArchive(std::string what, Blob bytes) : what_(std::move(what)), bytes_(std::move(bytes)) {}
  // The open archive, shared by its readers; one of few members is closed with the last of them.
  Result<std::shared_ptr<zip>> Handle();

  std::string what_;
  Blob bytes_;
  std::vector<ZipMember> members_ = {};
  std::weak_ptr<zip> handle_ = {};
  // Opening takes time in proportion to the members, and memory while it is open.
  std::shared_ptr<zip> kept_ = {};  // of an archive of many members
};

class ZipReader {
 public:
  ZipReader(std::shared_ptr<ZipArchive> archive, std::shared_ptr<zip> handle, ZipMember member,
            zip_file* file);
  ~ZipReader();

  uint64_t position() const { return position_; }
  // Fills `out`; kInvalidArgument if the member ends before or its checksum is wrong, which only
  // the read that reaches the claimed size sees.
  Status Read(std::span<std::byte> out, const StopToken& stop);

 private:
  Status CheckEnd();

  std::shared_ptr<ZipArchive> archive_;
  std::shared_ptr<zip> handle_;
  ZipMember member_;
  zip_file* file_;
  uint64_t position_ = 0;
  size_t read_ = 0;  // since pages were released
};

struct ZipInput {
  std::string name = {};
  Blob bytes = {};
};
// An archive of stored members, in a mapped temporary file; equal members give equal bytes.
// kResourceExhausted if the file cannot be written, else the stop's error.
Result<Blob> PackZip(const std::vector<ZipInput>& members, const StopToken& stop = {});

}  // namespace octavo::data
