// SPDX-License-Identifier: Apache-2.0
// Sees what clients send before gRPC does, and ends a connection whose client resets more calls
// than its budget allows (CVE-2023-44487).  gRPC 1.51 has no such bound: it makes each call of a
// read before it ends the first of them, which takes memory and time that others wait for.
//
// gRPC reads a socket with recvmsg and offers no place between the socket and its parser, so the
// program defines recvmsg (frame_watch.cc), which the loader prefers to libc's.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/service/reset_budget.h"
#include "server/service/rpc_probe.h"

namespace octavo::server {

// Finds the frames in what a client sends on one connection (RFC 9113, 3.4 and 4.1).
class FrameCounter {
 public:
  // The RST_STREAM frames whose head ends in the connection's next bytes.
  uint64_t CountResets(const uint8_t* data, size_t size);

 private:
  static constexpr size_t kPreface = 24;
  static constexpr size_t kHead = 9;

  size_t skip_ = kPreface;  // bytes until the next head
  std::array<uint8_t, kHead> head_ = {};
  size_t have_ = 0;  // bytes of head_
};

// Other sockets are read as usual.  Thread-safe.
namespace frame_watch {

// Watches the socket with this inode number while it has this descriptor.  `probe` counts the
// connection if it is ended; it must outlive gRPC's server, whose threads may still read.
void Add(int fd, ino_t socket, std::shared_ptr<ResetBudget> budget, RpcProbe& probe);
void Forget(int fd, ino_t socket);

}  // namespace frame_watch

}  // namespace octavo::server
