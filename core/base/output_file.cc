// SPDX-License-Identifier: Apache-2.0
#include "core/base/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "core/base/mapped_pages.h"

namespace octavo {
namespace {

// After each, the pages of a mapped blob that were written go.
constexpr size_t kWrittenPart = size_t{16} << 20;
// A write of this size to a FIFO that has room does not block.
constexpr size_t kStreamPart = 4096;
constexpr int kPollMilliseconds = 50;

// A write to a FIFO without readers fails with EPIPE and does not end the process.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;
  ~PipeSignalBlocked() {
    const timespec at_once = {};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_ = {};
  sigset_t before_ = {};
};

// Writes to a file; 0 or an errno.
int WriteToFile(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(kWrittenPart, bytes.size()));
    const ssize_t written = write(fd, part.data(), part.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? EIO : errno;
    const auto done = bytes.first(static_cast<size_t>(written));
    ReleasePages(done);
    bytes = bytes.subspan(done.size());
  }
  return 0;
}

// Opens a device, or a FIFO as soon as somebody reads it.
Result<int> OpenStream(const std::string& path, const OutputPath& place, const StopToken& stop) {
  if (place.descriptor >= 0) {
    const int copy = fcntl(place.descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return CannotWrite(path, errno);
    return copy;
  }
  for (;;) {
    OCTAVO_CHECK(stop.Check());
    const int fd = open(place.target.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) return fd;
    struct stat info = {};
    const int error = errno;
    const bool waits =
        error == ENXIO && stat(place.target.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
    if (!waits && error != EINTR) return CannotWrite(path, error);
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
  }
}

std::atomic<unsigned> temporary_number = 0;

std::string NewName(const std::string& folder) {
  return fmt::format("{}/.octavo-{}-{}", folder, getpid(), temporary_number++);
}

std::string ProcPath(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

}  // namespace

struct OutputFile::Temporary {
  Descriptor file;
  std::string name;  // empty: unnamed

  Temporary(int fd, std::string named) : file(fd), name(std::move(named)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!name.empty()) unlink(name.c_str());
  }

  // Null, with errno set, on failure.
  static std::shared_ptr<Temporary> New(const std::string& folder) {
    const int fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    // Its name will come from /proc.
    if (fd >= 0 && access(ProcPath(fd).c_str(), F_OK) == 0) {
      return std::make_shared<Temporary>(fd, "");
    }
    if (fd >= 0) close(fd);
    for (int tries = 0; tries < 100; ++tries) {
      std::string name = NewName(folder);
      const int named = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
      if (named >= 0) return std::make_shared<Temporary>(named, std::move(name));
      if (errno != EEXIST) return nullptr;
    }
    return nullptr;
  }

  // Takes on the mode and the owner of a file; false if the owner cannot be given.
  bool TakeOver(const struct stat& old) const {
    struct stat own = {};
    if (fstat(file.fd, &own) != 0) return false;
    const bool same = own.st_uid == old.st_uid && own.st_gid == old.st_gid;
    if (!same && fchown(file.fd, old.st_uid, old.st_gid) != 0) return false;
    // After the owner, whose change clears the bits of set-user-id programs.
    return fchmod(file.fd, old.st_mode & 07777) == 0;
  }

  // 0 or an errno.
  int RenameTo(const std::string& target) {
    if (name.empty()) {
      std::string named = NewName(FolderOf(target));
      if (linkat(AT_FDCWD, ProcPath(file.fd).c_str(), AT_FDCWD, named.c_str(), AT_SYMLINK_FOLLOW) !=
          0) {
        return errno;
      }
      name = std::move(named);
    }
    if (std::rename(name.c_str(), target.c_str()) != 0) return errno;
    name.clear();
    return 0;
  }
};

Result<OutputFile> OutputFile::Plan(const std::string& path) {
  OCTAVO_TRY(OutputPath place, ResolveOutput(path));
  return OutputFile(path, std::move(place));
}

Status OutputFile::Stage(Blob bytes) {
  bytes_ = std::move(bytes);
  if (place_.kind != OutputKind::kReplaced) return {};
  const std::string folder = FolderOf(place_.target);
  OCTAVO_CHECK(MakeFolder(folder));
  auto temporary = Temporary::New(folder);
  if (!temporary) return CannotWrite(path_, errno);
  struct stat old = {};
  if (lstat(place_.target.c_str(), &old) == 0 && !temporary->TakeOver(old)) {
    // A new file would belong to somebody else.
    place_.kind = OutputKind::kInPlace;
    return {};
  }
  if (const int error = WriteToFile(temporary->file.fd, bytes_.bytes()); error != 0) {
    return CannotWrite(path_, error);
  }
  if (fsync(temporary->file.fd) != 0) return CannotWrite(path_, errno);
  temporary_ = std::move(temporary);
  bytes_ = {};
  return {};
}

Status OutputFile::Commit(const StopToken& stop) {
  switch (place_.kind) {
    case OutputKind::kReplaced:
      return Replace();
    case OutputKind::kInPlace:
      return WriteInPlace(stop);
    case OutputKind::kStream:
      return WriteThrough(stop);
  }
  return {};
}

Status OutputFile::Replace() {
  // The path may have become something else since it was planned.
  struct stat now = {};
  if (lstat(place_.target.c_str(), &now) == 0 && !S_ISREG(now.st_mode)) {
    return CannotWrite(path_, EEXIST);
  }
  if (const int error = temporary_->RenameTo(place_.target); error != 0) {
    return CannotWrite(path_, error);
  }
  temporary_ = nullptr;
  return SyncFolder(FolderOf(place_.target));
}

Status OutputFile::WriteInPlace(const StopToken& stop) {
  OCTAVO_CHECK(stop.Check());
  const Descriptor file(open(place_.target.c_str(), O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC));
  if (file.fd < 0) return CannotWrite(path_, errno);
  if (const int error = WriteToFile(file.fd, bytes_.bytes()); error != 0) {
    return CannotWrite(path_, error);
  }
  if (fsync(file.fd) != 0) return CannotWrite(path_, errno);
  return {};
}

Status OutputFile::WriteThrough(const StopToken& stop) {
  const PipeSignalBlocked blocked;
  OCTAVO_TRY(const int fd, OpenStream(path_, place_, stop));
  const Descriptor file(fd);
  for (std::span rest = bytes_.bytes(); !rest.empty();) {
    OCTAVO_CHECK(stop.Check());
    pollfd ready = {.fd = file.fd, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, kPollMilliseconds) == 0) continue;
    const ssize_t written = write(file.fd, rest.data(), std::min(kStreamPart, rest.size()));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return CannotWrite(path_, written == 0 ? EIO : errno);
    rest = rest.subspan(static_cast<size_t>(written));
  }
  // Devices and FIFOs without a cache refuse it with EINVAL.
  if (fsync(file.fd) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) {
    return CannotWrite(path_, errno);
  }
  return {};
}

}  // namespace octavo
