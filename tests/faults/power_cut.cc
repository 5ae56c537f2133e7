// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD library: keeps a second copy of a folder that has only what was synced, as a disk has
// after a power cut.
//
//   POWER_CUT_FOLDER   the folder to watch
//   POWER_CUT_DURABLE  where the copy grows; power_cut.py makes a folder of it
//
// fsync and fdatasync of a regular file copy its content; of a folder, the list of its names.  A
// name that was not synced into its folder does not exist afterwards, and a file that was not
// synced is empty.  Files are told apart by inode and time of birth, as inodes are used again.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace {

using Sync = int (*)(int);

std::string Variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

const std::string& Watched() {
  static const std::string folder = Variable("POWER_CUT_FOLDER");
  return folder;
}

std::string PathOf(int fd) {
  std::array<char, 4096> path = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size < 0 ? std::string() : std::string(path.data(), static_cast<size_t>(size));
}

// Inode and birth as `stat --format=%i-%.9W` prints them, or nothing for a file that cannot be
// examined.
std::string IdentityOf(int folder, const char* name, int flags) {
  struct statx facts = {};
  if (statx(folder, name, flags | AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &facts) != 0)
    return {};
  std::array<char, 32> nanoseconds = {};
  snprintf(nanoseconds.data(), nanoseconds.size(), "%09u", facts.stx_btime.tv_nsec);
  return std::to_string(facts.stx_ino) + "-" + std::to_string(facts.stx_btime.tv_sec) + "." +
         nanoseconds.data();
}

// Appears whole or not at all: the process may be killed at any time.
void Put(const std::string& name, const std::string& content) {
  const std::string target = Variable("POWER_CUT_DURABLE") + "/" + name;
  const std::string partial = target + ".partial";
  FILE* file = fopen(partial.c_str(), "wb");
  if (file == nullptr) abort();
  const bool written = fwrite(content.data(), 1, content.size(), file) == content.size();
  if (fclose(file) != 0 || !written || rename(partial.c_str(), target.c_str()) != 0) abort();
}

std::string ContentOf(const std::string& path) {
  std::string content;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) abort();
  std::array<char, 65536> buffer = {};
  for (ssize_t got = 0; (got = read(fd, buffer.data(), buffer.size())) > 0;) {
    content.append(buffer.data(), static_cast<size_t>(got));
  }
  close(fd);
  return content;
}

// A line for each name: "d" or "f", the identity, the name.
std::string NamesIn(const std::string& path) {
  std::string lines;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) abort();
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string identity = IdentityOf(dirfd(folder), entry->d_name, 0);
    if (identity.empty()) continue;  // removed meanwhile
    lines += (entry->d_type == DT_DIR ? "d " : "f ") + identity + " " + name + "\n";
  }
  closedir(folder);
  return lines;
}

void Keep(int fd) {
  static std::mutex mutex;
  const std::string path = PathOf(fd);
  if (Watched().empty() || !path.starts_with(Watched())) return;
  struct stat facts = {};
  if (fstat(fd, &facts) != 0 || facts.st_nlink == 0) return;
  const std::lock_guard lock(mutex);
  const std::string identity = IdentityOf(fd, "", AT_EMPTY_PATH);
  if (identity.empty()) abort();
  Put(identity, S_ISDIR(facts.st_mode) ? NamesIn(path) : ContentOf(path));
  if (path == Watched()) Put("root", identity);
}

int SyncBy(const char* function, int fd) {
  const int result = reinterpret_cast<Sync>(dlsym(RTLD_NEXT, function))(fd);
  if (result == 0) Keep(fd);
  return result;
}

}  // namespace

extern "C" int fsync(int fd) { return SyncBy("fsync", fd); }
extern "C" int fdatasync(int fd) { return SyncBy("fdatasync", fd); }
