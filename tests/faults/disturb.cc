// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD library: a disk that fails and a clock that jumps, switched while the program runs.
//
//   DISTURB_CONTROL  a file of 40 bytes, which disturb.py writes and this library maps:
//     int32  the errno of calls that write to the folder, or 0
//     int32  the errno of calls that read from the folder, or 0
//     int64  nanoseconds that the wall clock is ahead
//     int64  how many calls have failed, counted here
//     int64  bytes of memory to lose each time that a process is started
//     int64  bytes that the program had allocated when it started a process last, by jemalloc
//   DISTURB_FOLDER   the folder of the disk
//
// The monotonic clock is left alone.  As ENOSPC is the errno of a full disk, what needs no room
// goes on: syncing, shortening, removing.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct Control {
  std::atomic<int32_t> on_write;
  std::atomic<int32_t> on_read;
  std::atomic<int64_t> ahead;
  std::atomic<int64_t> failed;
  std::atomic<int64_t> leak;
  std::atomic<int64_t> allocated;
};

template <typename F>
F* Real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

Control* MapControl() {
  static Control none = {};
  const char* path = getenv("DISTURB_CONTROL");
  if (path == nullptr) return &none;
  const int fd = Real<int(const char*, int, ...)>("open")(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) abort();
  void* at = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) abort();
  return static_cast<Control*>(at);
}

Control& Now() {
  static Control* const control = MapControl();
  return *control;
}

bool InFolder(std::string_view path) {
  static const char* const folder = getenv("DISTURB_FOLDER");
  return folder != nullptr && path.starts_with(folder);
}

bool InFolder(int fd) {
  std::array<char, 4096> path = {};
  std::array<char, 32> link = {};
  snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link.data(), path.data(), path.size());
  return size > 0 && InFolder(std::string_view(path.data(), static_cast<size_t>(size)));
}

template <typename Where>
bool Fails(const std::atomic<int32_t>& kind, Where where) {
  const int error = kind.load();
  if (error == 0 || !InFolder(where)) return false;
  ++Now().failed;
  errno = error;
  return true;
}

template <typename Where>
bool WriteFails(Where where) {
  return Fails(Now().on_write, where);
}

// Of calls that a full disk permits.
template <typename Where>
bool ChangeFails(Where where) {
  return Now().on_write != ENOSPC && Fails(Now().on_write, where);
}

template <typename Where>
bool ReadFails(Where where) {
  return Fails(Now().on_read, where);
}

bool OpenFails(const char* path, int flags) {
  const bool creates = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
  if (creates || (flags & O_TMPFILE) == O_TMPFILE) return WriteFails(path);
  return (flags & O_DIRECTORY) == 0 && ReadFails(path);
}

mode_t ModeOf(int flags, va_list rest) {
  const bool has = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has ? va_arg(rest, mode_t) : 0;
}

timespec Plus(timespec time, int64_t nanoseconds) {
  const int64_t all = time.tv_sec * kSecond + time.tv_nsec + nanoseconds;
  return {.tv_sec = all / kSecond, .tv_nsec = all % kSecond};
}

// 0 where the program has another allocator.
int64_t AllocatedBytes() {
  using Mallctl = int(const char*, void*, size_t*, void*, size_t);
  static auto* const control = reinterpret_cast<Mallctl*>(dlsym(RTLD_DEFAULT, "mallctl"));
  if (control == nullptr) return 0;
  uint64_t epoch = 1;  // any value brings the statistics up to date
  control("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  size_t allocated = 0;
  size_t size = sizeof allocated;
  control("stats.allocated", &allocated, &size, nullptr, 0);
  return static_cast<int64_t>(allocated);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = ModeOf(flags, rest);
  va_end(rest);
  static auto* const real = Real<int(const char*, int, ...)>("open");
  return OpenFails(path, flags) ? -1 : real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = ModeOf(flags, rest);
  va_end(rest);
  return open(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = Real<FILE*(const char*, const char*)>("fopen");
  const bool writes = *mode != 'r';
  return (writes ? WriteFails(path) : ReadFails(path)) ? nullptr : real(path, mode);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = Real<ssize_t(int, const void*, size_t)>("write");
  return WriteFails(fd) ? -1 : real(fd, bytes, size);
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static auto* const real = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return WriteFails(fd) ? -1 : real(fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t offset) {
  return pwrite(fd, bytes, size, offset);
}

ssize_t read(int fd, void* bytes, size_t size) {
  static auto* const real = Real<ssize_t(int, void*, size_t)>("read");
  return ReadFails(fd) ? -1 : real(fd, bytes, size);
}

ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  static auto* const real = Real<ssize_t(int, void*, size_t, off_t)>("pread");
  return ReadFails(fd) ? -1 : real(fd, bytes, size, offset);
}
ssize_t pread64(int fd, void* bytes, size_t size, off_t offset) {
  return pread(fd, bytes, size, offset);
}

int ftruncate(int fd, off_t size) {
  static auto* const real = Real<int(int, off_t)>("ftruncate");
  struct stat facts = {};
  const bool grows = fstat(fd, &facts) == 0 && size > facts.st_size;
  return (grows ? WriteFails(fd) : ChangeFails(fd)) ? -1 : real(fd, size);
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int fsync(int fd) {
  static auto* const real = Real<int(int)>("fsync");
  return ChangeFails(fd) ? -1 : real(fd);
}
int fdatasync(int fd) {
  static auto* const real = Real<int(int)>("fdatasync");
  return ChangeFails(fd) ? -1 : real(fd);
}

int rename(const char* from, const char* to) {
  static auto* const real = Real<int(const char*, const char*)>("rename");
  return WriteFails(to) ? -1 : real(from, to);
}

int mkdir(const char* path, mode_t mode) {
  static auto* const real = Real<int(const char*, mode_t)>("mkdir");
  return WriteFails(path) ? -1 : real(path, mode);
}

int unlink(const char* path) {
  static auto* const real = Real<int(const char*)>("unlink");
  return ChangeFails(path) ? -1 : real(path);
}

int clock_gettime(clockid_t clock, timespec* time) {
  static auto* const real = Real<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  const bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && wall) *time = Plus(*time, Now().ahead);
  return result;
}

int gettimeofday(timeval* time, void* /*zone*/) {
  timespec now = {};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return result;
}

time_t time(time_t* out) {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* argv, char* const* environment) {
  static auto* const real = Real<decltype(posix_spawn)>("posix_spawn");
  const auto lost = static_cast<size_t>(Now().leak);
  // Volatile, or the compiler leaves out what no one reads.
  auto* const memory = static_cast<volatile char*>(lost == 0 ? nullptr : malloc(lost));
  for (size_t i = 0; memory != nullptr && i < lost; ++i) memory[i] = 1;
  Now().allocated = AllocatedBytes();
  return real(pid, path, actions, attributes, argv, environment);
}

// The kernel's clock has not jumped, so what waits for the wall clock waits for the real one.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  static auto* const real =
      Real<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>("pthread_cond_timedwait");
  const auto days = (until->tv_sec - ::time(nullptr)) / 43200;
  // gRPC waits for the monotonic clock: its times are far from the wall clock's.
  if (days < -2 || days > 2) return real(condition, mutex, until);
  const timespec shifted = Plus(*until, -Now().ahead);
  return real(condition, mutex, &shifted);
}

}  // extern "C"
