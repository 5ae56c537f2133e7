// SPDX-License-Identifier: Apache-2.0
#include "server/service/frame_watch.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace octavo::server {
namespace {

constexpr uint8_t kRstStream = 3;

struct Watched {
  ino_t socket = 0;
  std::shared_ptr<ResetBudget> budget = {};
  RpcProbe* probe = nullptr;
  FrameCounter counter = {};  // gRPC reads a connection in one thread at a time
};

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<int, std::shared_ptr<Watched>> connections;
};

Table& AllConnections() {
  static auto& table = *new Table;  // threads of gRPC outlive main
  return table;
}

std::shared_ptr<Watched> Find(int fd) {
  Table& table = AllConnections();
  const std::shared_lock lock(table.mutex);
  const auto at = table.connections.find(fd);
  return at == table.connections.end() ? nullptr : at->second;
}

bool IsSocket(int fd, ino_t socket) {
  struct stat now = {};
  return fstat(fd, &now) == 0 && S_ISSOCK(now.st_mode) && now.st_ino == socket;
}

// False if what was read exceeds the budget.
bool Permits(int fd, const msghdr& message, size_t size) {
  const std::shared_ptr<Watched> watched = Find(fd);
  if (watched == nullptr || !IsSocket(fd, watched->socket)) return true;
  uint64_t resets = 0;
  for (size_t i = 0; i < message.msg_iovlen && size > 0; ++i) {
    const iovec& piece = message.msg_iov[i];
    const size_t used = std::min(size, piece.iov_len);
    resets += watched->counter.CountResets(static_cast<const uint8_t*>(piece.iov_base), used);
    size -= used;
  }
  if (resets == 0 || watched->budget->Take(resets, ResetBudget::Clock::now())) return true;
  watched->probe->ConnectionRejected(ConnectionReject::kResets);
  return false;
}

}  // namespace

uint64_t FrameCounter::CountResets(const uint8_t* data, size_t size) {
  uint64_t resets = 0;
  while (size > 0) {
    const size_t wanted = skip_ > 0 ? skip_ : kHead - have_;
    const size_t used = std::min(wanted, size);
    if (skip_ > 0) {
      skip_ -= used;
    } else {
      std::memcpy(head_.data() + have_, data, used);
      have_ += used;
    }
    data += used;
    size -= used;
    if (have_ < kHead) continue;
    have_ = 0;
    skip_ = size_t{head_[0]} << 16 | size_t{head_[1]} << 8 | size_t{head_[2]};
    if (head_[3] == kRstStream) ++resets;
  }
  return resets;
}

namespace frame_watch {

void Add(int fd, ino_t socket, std::shared_ptr<ResetBudget> budget, RpcProbe& probe) {
  auto watched = std::make_shared<Watched>(
      Watched{.socket = socket, .budget = std::move(budget), .probe = &probe});
  Table& table = AllConnections();
  const std::lock_guard lock(table.mutex);
  table.connections[fd] = std::move(watched);
}

void Forget(int fd, ino_t socket) {
  Table& table = AllConnections();
  const std::lock_guard lock(table.mutex);
  const auto at = table.connections.find(fd);
  if (at != table.connections.end() && at->second->socket == socket) table.connections.erase(at);
}

}  // namespace frame_watch

}  // namespace octavo::server

// Ends a connection that exceeds its budget as if its client had: gRPC closes it.
extern "C" ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const ssize_t got = syscall(SYS_recvmsg, fd, message, flags);
  if (got <= 0 || (flags & (MSG_PEEK | MSG_ERRQUEUE)) != 0) return got;
  if (octavo::server::Permits(fd, *message, static_cast<size_t>(got))) return got;
  errno = ECONNRESET;
  return -1;
}
