// SPDX-License-Identifier: Apache-2.0
#include "core/base/output_path.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/base/descriptor.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as in Linux

// Whether the process's effective user may do it.
bool May(const std::string& path, int access) {
  return faccessat(AT_FDCWD, path.c_str(), access, AT_EACCESS) == 0;
}

std::string IdentityOf(const struct stat& info) {
  return fmt::format("{}:{}", info.st_dev, info.st_ino);
}

// Of a file that does not exist yet.
std::string IdentityOf(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return (error ? path : whole).string();
}

bool IsInProc(const std::string& folder) {
  struct statfs info = {};
  return statfs(folder.c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

// The number of a link in /proc/self/fd.
std::optional<int> OwnDescriptor(const fs::path& link) {
  std::error_code error;
  const fs::path own = fs::canonical("/proc/self/fd", error);
  if (error || !fs::equivalent(FolderOf(link.string()), own, error)) return std::nullopt;
  const std::string name = link.filename().string();
  int number = -1;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failure != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// A link in /proc: its text is no path, or not one to write anew (`-o /dev/stdout >> all`).
Result<OutputPath> ResolveDescriptor(const std::string& path, const fs::path& link) {
  struct stat info = {};
  if (stat(link.c_str(), &info) != 0) return CannotWrite(path, errno);
  if (S_ISDIR(info.st_mode)) return CannotWrite(path, EISDIR);
  OutputPath found = {.kind = OutputKind::kStream, .target = link.string()};
  if (!S_ISCHR(info.st_mode)) found.identity = IdentityOf(info);
  if (const auto own = OwnDescriptor(link)) {
    const int flags = fcntl(*own, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return CannotWrite(path, EBADF);
    found.descriptor = *own;
  } else if (!May(link.string(), W_OK)) {
    return CannotWrite(path, errno);
  }
  return found;
}

// Why no file can be made in the folder, existing or not; 0 if one can.
int ErrorOfFolder(const std::string& folder) {
  std::error_code error;
  fs::path at = fs::absolute(folder, error);
  if (error) return error.value();
  for (;; at = at.parent_path()) {
    struct stat info = {};
    if (stat(at.c_str(), &info) == 0) {
      if (!S_ISDIR(info.st_mode)) return ENOTDIR;
      if (IsInProc(at.string())) return ENOENT;  // it has no files but its own
      return May(at.string(), W_OK | X_OK) ? 0 : errno;
    }
    if (errno != ENOENT) return errno;
    // A link that leads nowhere is not replaced by a folder.
    if (lstat(at.c_str(), &info) == 0 || !at.has_relative_path()) return ENOENT;
  }
}

Result<OutputPath> ResolveMissing(const std::string& path, const fs::path& target) {
  const std::string folder = FolderOf(target.string());
  if (target.filename().empty()) return CannotWrite(path, EISDIR);
  if (const int error = ErrorOfFolder(folder); error != 0) return CannotWrite(path, error);
  return OutputPath{.target = target.string(), .identity = IdentityOf(target)};
}

Result<OutputPath> ResolveExisting(const std::string& path, const std::string& target,
                                   const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return CannotWrite(path, EISDIR);
  if (S_ISSOCK(info.st_mode)) return CannotWrite(path, ENXIO);
  if (!May(target, W_OK)) return CannotWrite(path, errno);
  OutputPath found = {.target = target, .identity = IdentityOf(info)};
  if (!S_ISREG(info.st_mode)) {
    found.kind = OutputKind::kStream;
    if (S_ISCHR(info.st_mode)) found.identity.clear();
  } else if (!May(FolderOf(target), W_OK | X_OK)) {
    found.kind = OutputKind::kInPlace;
  }
  return found;
}

}  // namespace

Failure CannotWrite(const std::string& path, int error) {
  return Fail(Code::kInternal, "cannot write '{}': {}", path, std::strerror(error))
      .Field(path)
      .Reason("IO");
}

std::string FolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

Result<OutputPath> ResolveOutput(const std::string& path) {
  fs::path target = path;
  for (int links = 0; links <= kMaxLinks; ++links) {
    struct stat info = {};
    if (target.filename().empty()) return CannotWrite(path, EISDIR);
    if (lstat(target.c_str(), &info) != 0) {
      if (errno != ENOENT) return CannotWrite(path, errno);
      return ResolveMissing(path, target);
    }
    if (!S_ISLNK(info.st_mode)) return ResolveExisting(path, target.string(), info);
    if (IsInProc(FolderOf(target.string()))) return ResolveDescriptor(path, target);
    std::error_code error;
    const fs::path next = fs::read_symlink(target, error);
    if (error) return CannotWrite(path, error.value());
    target = target.parent_path() / next;
  }
  return CannotWrite(path, ELOOP);
}

Status CheckFolder(const std::string& folder) {
  if (const int error = ErrorOfFolder(folder); error != 0) return CannotWrite(folder, error);
  return {};
}

Status MakeFolder(const std::string& folder) {
  struct stat info = {};
  if (stat(folder.c_str(), &info) == 0) {
    if (!S_ISDIR(info.st_mode)) return CannotWrite(folder, ENOTDIR);
    return {};
  }
  const std::string above = FolderOf(folder);
  if (above != folder && above != ".") OCTAVO_CHECK(MakeFolder(above));
  // Another process may make it at the same time.
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return CannotWrite(folder, errno);
  return SyncFolder(above);
}

Status SyncFolder(const std::string& folder) {
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that may be written but not listed, and file systems that sync no folders.
  if (opened.fd < 0 && errno == EACCES) return {};
  if (opened.fd < 0) return CannotWrite(folder, errno);
  if (fsync(opened.fd) != 0 && errno != EINVAL) return CannotWrite(folder, errno);
  return {};
}

}  // namespace octavo
