// SPDX-License-Identifier: Apache-2.0
// The files of a store on disk and the system calls on them:
//
//   lock                        locked by the process that uses the folder
//   blobs/ab/ab34...            complete blobs, named by digest
//   partial/DIGEST-SIZE         partial blobs; the file's length is what was written
//   partial/DIGEST-SIZE.N       the same from a second writer; removed when the store is opened
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/status.h"
#include "server/store/blob_store.h"
#include "server/store/failpoint.h"

namespace octavo::server {

class DiskFiles {
 public:
  using Time = std::chrono::system_clock::time_point;

  // Creates what is missing and locks the folder.  kUsage if that fails.
  static Result<DiskFiles> Open(const std::string& folder);

  std::string BlobPath(const std::string& sha256) const;
  std::string PartialPath(const std::string& name) const;

  struct Found {
    BlobDigest digest = {};
    uint64_t bytes = 0;  // of the file
    Time modified = {};
  };
  struct Contents {
    std::vector<Found> blobs = {};
    std::vector<Found> partials = {};
  };
  // Lists all files and removes those of second writers and of TryWrite.
  Result<Contents> Scan() const;

  // Renames a synced partial file to its blob and syncs the blob's folder.
  Status Publish(const std::string& partial, const std::string& sha256) const;
  // Writes, syncs and removes a small file.
  Status TryWrite() const;

 private:
  DiskFiles(std::string folder, std::shared_ptr<Descriptor> lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::string folder_;
  std::shared_ptr<Descriptor> lock_;
};

// The name of a partial file.
std::string PartialName(const BlobDigest& digest);

// kResourceExhausted STORAGE: "the service cannot ACTION: ERROR".
Failure StorageError(std::string_view action, int error);

// Opens (and creates, if `create`) a partial file for reading and writing.
Result<std::unique_ptr<Descriptor>> OpenPartial(const std::string& path, bool create);
// Writes all bytes at `offset`, or truncates the file to `offset` and fails.
Status WriteAt(int fd, uint64_t offset, std::span<const std::byte> bytes);
Status SyncFile(int fd);
// Creates the folder if its parent exists, so that it survives a power cut.  If it fails, errno
// says why.
bool CreateFolder(const std::string& path);
// A missing file is no error.
Status RemoveFile(const std::string& path);
// Sets the time of modification to now: the order of use after a restart.
void TouchFile(const std::string& path);

// Fail with STORAGE if the file does not have the bytes (any more).
Status ReadFrom(int fd, uint64_t offset, std::span<std::byte> out);
Status ReadRange(const std::string& path, uint64_t offset, std::span<std::byte> out);
// The blob keeps `held` alive.
Result<Blob> MapWhole(const std::string& path, uint64_t bytes, std::shared_ptr<const void> held);

enum class FileState { kSound, kDamaged };
// Calls `part` for consecutive parts of at most 1 MiB of the file's first `bytes` bytes.  kDamaged
// if the file does not exist or is shorter.
Result<FileState> ReadParts(const std::string& path, uint64_t bytes,
                            const std::function<void(Blob)>& part);
// Whether the file has exactly the digest's size and bytes.
Result<FileState> CheckFile(const std::string& path, const BlobDigest& digest);

}  // namespace octavo::server
