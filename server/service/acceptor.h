// SPDX-License-Identifier: Apache-2.0
// Accepts connections, in all and per address at most so many, and hands them to gRPC, which has no
// such bounds of its own.  An address that resets too many calls is refused.  One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "server/service/rpc_probe.h"

namespace octavo::server {

struct ConnectionCaps {
  uint64_t in_all = 0;
  uint64_t per_address = 0;
};

// What the limit of open files allows: half of it for connections, half of that for one address.
ConnectionCaps DefaultConnectionCaps();

class Acceptor {
 public:
  // Listens on HOST:PORT, on each address that it resolves to; port 0 selects a free port.
  static Result<std::unique_ptr<Acceptor>> Listen(const std::string& listen, ConnectionCaps caps,
                                                  RpcProbe& probe);
  // Stops accepting.
  ~Acceptor();

  int port() const;
  // Starts the thread.  `take` becomes the owner of each descriptor that it gets.
  void Start(std::function<void(int listener, int connection)> take);
  // Ends the thread.
  void Stop();

 private:
  struct State;
  Acceptor();
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
