// SPDX-License-Identifier: Apache-2.0
#include "server/store/disk_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/sha256.h"
#include "server/store/stored_file.h"

namespace octavo::server {
namespace {

constexpr uint64_t kPart = uint64_t{1} << 20;
constexpr std::string_view kTrial = "trial";

Failure Unusable(const std::string& path, int error) {
  return Fail(Code::kUsage, "--state-dir: cannot use '{}': {}", path, std::strerror(error))
      .Field("--state-dir");
}

std::string FolderName(int index) { return fmt::format("{:02x}", index); }

Status SyncFolder(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd < 0 || fsync(folder.fd) != 0) return StorageError("sync a folder", errno);
  return {};
}

Status MakeFolders(const std::string& folder) {
  for (const std::string& path : {folder, folder + "/blobs", folder + "/partial"}) {
    if (!CreateFolder(path)) return Unusable(path, errno);
  }
  // A process that was killed may have created them and not synced.
  if (const auto ok = SyncFolder(folder); !ok) return Unusable(folder, EIO);
  return {};
}

// Calls `entry` with the name and the state of each regular file.  A missing folder has none.
Status ForEachFile(const std::string& folder,
                   const std::function<void(const std::string&, const struct stat&)>& entry) {
  DIR* const open_folder = opendir(folder.c_str());
  if (open_folder == nullptr && errno == ENOENT) return {};
  if (open_folder == nullptr) return Unusable(folder, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(open_folder, &closedir);
  while (const dirent* found = readdir(open_folder)) {
    struct stat info = {};
    if (fstatat(dirfd(open_folder), found->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(info.st_mode)) entry(found->d_name, info);
  }
  return {};
}

DiskFiles::Time ModifiedAt(const struct stat& info) {
  const auto since_epoch =
      std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
  return DiskFiles::Time(std::chrono::duration_cast<DiskFiles::Time::duration>(since_epoch));
}

// The digest that a partial file's name states; an empty one if it states none.
BlobDigest ParsePartialName(const std::string& name) {
  const size_t dash = name.find('-');
  if (dash == name.npos) return {};
  BlobDigest digest{.sha256 = name.substr(0, dash)};
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + dash + 1, last, digest.size_bytes);
  if (error != std::errc() || end != last || !CheckDigest(digest)) return {};
  return digest;
}

}  // namespace

std::string PartialName(const BlobDigest& digest) {
  return fmt::format("{}-{}", digest.sha256, digest.size_bytes);
}

Failure StorageError(std::string_view action, int error) {
  return Fail(Code::kResourceExhausted, "the service cannot {}: {}", action, std::strerror(error))
      .Reason("STORAGE");
}

Result<DiskFiles> DiskFiles::Open(const std::string& folder) {
  OCTAVO_CHECK(MakeFolders(folder));
  const std::string path = folder + "/lock";
  auto lock = std::make_shared<Descriptor>(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock->fd < 0) return Unusable(path, errno);
  if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Unusable(path, errno);
    return Fail(Code::kUsage, "--state-dir: another process uses '{}'", folder)
        .Field("--state-dir");
  }
  DiskFiles files(folder, std::move(lock));
  if (const auto ok = files.TryWrite(); !ok) {
    return Fail(Code::kUsage, "--state-dir '{}': {}", folder, ok.error().message)
        .Field("--state-dir");
  }
  return files;
}

std::string DiskFiles::BlobPath(const std::string& sha256) const {
  return fmt::format("{}/blobs/{}/{}", folder_, sha256.substr(0, 2), sha256);
}

std::string DiskFiles::PartialPath(const std::string& name) const {
  return fmt::format("{}/partial/{}", folder_, name);
}

Result<DiskFiles::Contents> DiskFiles::Scan() const {
  Contents contents;
  for (int i = 0; i < 256; ++i) {
    const std::string parent = FolderName(i);
    OCTAVO_CHECK(ForEachFile(
        folder_ + "/blobs/" + parent, [&](const std::string& name, const struct stat& info) {
          const auto size = static_cast<uint64_t>(info.st_size);
          BlobDigest digest{.sha256 = name, .size_bytes = size};
          if (!CheckDigest(digest) || !name.starts_with(parent)) return;
          contents.blobs.push_back({std::move(digest), size, ModifiedAt(info)});
        }));
  }
  std::vector<std::string> leftovers;
  OCTAVO_CHECK(
      ForEachFile(folder_ + "/partial", [&](const std::string& name, const struct stat& info) {
        BlobDigest digest = ParsePartialName(name);
        const auto size = static_cast<uint64_t>(info.st_size);
        if (digest.sha256.empty() || size == 0 || size > digest.size_bytes) {
          leftovers.push_back(name);
        } else {
          contents.partials.push_back({std::move(digest), size, ModifiedAt(info)});
        }
      }));
  for (const std::string& name : leftovers) OCTAVO_CHECK(RemoveFile(PartialPath(name)));
  return contents;
}

Status DiskFiles::Publish(const std::string& partial, const std::string& sha256) const {
  const std::string path = BlobPath(sha256);
  const std::string parent = path.substr(0, path.rfind('/'));
  if (const int error = Reach(Failpoint::kStoreRename)) return StorageError("store a blob", error);
  if (mkdir(parent.c_str(), 0700) == 0) {
    OCTAVO_CHECK(SyncFolder(folder_ + "/blobs"));
  } else if (errno != EEXIST) {
    return StorageError("store a blob", errno);
  }
  if (rename(PartialPath(partial).c_str(), path.c_str()) != 0) {
    return StorageError("store a blob", errno);
  }
  const int error = Reach(Failpoint::kStoreFolder);
  auto synced = error != 0 ? Status(StorageError("sync a folder", error)) : SyncFolder(parent);
  // A name that may vanish with the power must not be visible.
  if (!synced && rename(path.c_str(), PartialPath(partial).c_str()) != 0) {
    std::remove(path.c_str());
  }
  return synced;
}

Status DiskFiles::TryWrite() const {
  const std::string path = PartialPath(std::string(kTrial));
  static constexpr std::byte kBytes[4096] = {};
  OCTAVO_TRY(const auto file, OpenPartial(path, /*create=*/true));
  auto ok = WriteAt(file->fd, 0, kBytes);
  if (ok) ok = SyncFile(file->fd);
  const auto removed = RemoveFile(path);
  return ok ? removed : ok;
}

Result<std::unique_ptr<Descriptor>> OpenPartial(const std::string& path, bool create) {
  if (create) {
    if (const int error = Reach(Failpoint::kStoreCreate)) {
      return StorageError("store an upload", error);
    }
  }
  auto file = std::make_unique<Descriptor>(
      open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT | O_TRUNC : 0), 0600));
  if (file->fd < 0) return StorageError("store an upload", errno);
  return file;
}

Status WriteAt(int fd, uint64_t offset, std::span<const std::byte> bytes) {
  int error = Reach(Failpoint::kStoreWrite);
  size_t done = 0;
  while (error == 0 && done < bytes.size()) {
    const ssize_t wrote =
        pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error = wrote == 0 ? EIO : errno;
    } else {
      done += static_cast<size_t>(wrote);
    }
  }
  if (error == 0) {
    // Starts the transfer to the disk now, so that SyncFile has little left to do.
    sync_file_range(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes.size()),
                    SYNC_FILE_RANGE_WRITE);
    return {};
  }
  if (ftruncate(fd, static_cast<off_t>(offset)) != 0) return StorageError("write an upload", errno);
  return StorageError("write an upload", error);
}

Status SyncFile(int fd) {
  if (const int error = Reach(Failpoint::kStoreSync)) return StorageError("sync an upload", error);
  if (fsync(fd) != 0) return StorageError("sync an upload", errno);
  return {};
}

Status RemoveFile(const std::string& path) {
  if (const int error = Reach(Failpoint::kStoreRemove)) return StorageError("remove a file", error);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return StorageError("remove a file", errno);
  return {};
}

bool CreateFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0) return errno == EEXIST;
  return SyncFolder(path + "/..").has_value();
}

void TouchFile(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

Status ReadFrom(int fd, uint64_t offset, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return StorageError("read a blob", got == 0 ? EIO : errno);
    done += static_cast<size_t>(got);
  }
  return {};
}

Status ReadRange(const std::string& path, uint64_t offset, std::span<std::byte> out) {
  if (const int error = Reach(Failpoint::kStoreRead)) return StorageError("read a blob", error);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.fd < 0) return StorageError("read a blob", errno);
  return ReadFrom(file.fd, offset, out);
}

Result<Blob> MapWhole(const std::string& path, uint64_t bytes, std::shared_ptr<const void> held) {
  if (bytes == 0) return Blob(std::string());
  auto file =
      std::make_shared<const Descriptor>(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info = {};
  if (file->fd < 0 || fstat(file->fd, &info) != 0) return StorageError("read a blob", errno);
  // A mapping beyond the file's end would end the process at the first access.
  if (static_cast<uint64_t>(info.st_size) != bytes) return StorageError("read a blob", EIO);
  Blob mapped = MapStoredFile(std::move(file), bytes, std::move(held));
  if (mapped.empty()) return StorageError("map a blob", errno);
  return mapped;
}

Result<FileState> ReadParts(const std::string& path, uint64_t bytes,
                            const std::function<void(Blob)>& part) {
  if (const int error = Reach(Failpoint::kStoreRead)) return StorageError("read a blob", error);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.fd < 0) {
    if (errno == ENOENT) return FileState::kDamaged;
    return StorageError("read a blob", errno);
  }
  uint64_t at = 0;
  while (at < bytes) {
    std::vector<std::byte> buffer(std::min(kPart, bytes - at));
    const ssize_t got = pread(file.fd, buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return StorageError("read a blob", errno);
    if (got == 0) return FileState::kDamaged;
    buffer.resize(static_cast<size_t>(got));
    at += static_cast<uint64_t>(got);
    part(Blob(std::move(buffer)));
  }
  return FileState::kSound;
}

Result<FileState> CheckFile(const std::string& path, const BlobDigest& digest) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 && static_cast<uint64_t>(info.st_size) != digest.size_bytes) {
    return FileState::kDamaged;
  }
  Sha256 hash;
  OCTAVO_TRY(const FileState state, ReadParts(path, digest.size_bytes, [&](const Blob& part) {
               hash.Update(part.bytes());
             }));
  if (state == FileState::kDamaged) return state;
  return hash.Finish() == digest.sha256 ? FileState::kSound : FileState::kDamaged;
}

}  // namespace octavo::server
