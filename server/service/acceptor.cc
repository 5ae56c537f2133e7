// SPDX-License-Identifier: Apache-2.0
#include "server/service/acceptor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "server/service/frame_watch.h"
#include "server/service/reset_budget.h"

namespace octavo::server {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kMostConnections = 16'384;
constexpr uint64_t kSpareDescriptors = 64;
constexpr auto kPause = std::chrono::milliseconds(100);       // without descriptors
constexpr auto kSweepPause = std::chrono::milliseconds(20);   // at most
constexpr auto kIdleSweep = std::chrono::milliseconds(1000);  // for the gauge

// A connection is open while its descriptor is still this socket: gRPC closes it without a word.
struct Connection {
  int fd = -1;
  ino_t socket = 0;
  std::string address = {};

  bool open() const {
    struct stat now = {};
    return fstat(fd, &now) == 0 && S_ISSOCK(now.st_mode) && now.st_ino == socket;
  }
};

// What is known of the clients of one address.
struct Address {
  uint64_t open = 0;  // connections
  std::shared_ptr<ResetBudget> resets = std::make_shared<ResetBudget>();
};

std::string AddressOf(const sockaddr_storage& peer) {
  if (peer.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
    // A customer of an IPv6 network has a /64 at least.
    const size_t bytes = IN6_IS_ADDR_V4MAPPED(&address) ? 16 : 8;
    return {reinterpret_cast<const char*>(&address), bytes};
  }
  const auto& address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
  return {reinterpret_cast<const char*>(&address), sizeof address};
}

// A descriptor, or an errno, negative.
int ListenOn(const addrinfo& at, int port) {
  const int fd = socket(at.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // connections inherit it
  sockaddr_storage address = {};
  std::memcpy(&address, at.ai_addr, at.ai_addrlen);
  auto& bytes = at.ai_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(address).sin_port;
  if (port != 0) bytes = htons(static_cast<uint16_t>(port));
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), at.ai_addrlen) == 0 &&
      listen(fd, SOMAXCONN) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  return -error;
}

// Whether an address of a name is not of this machine, as ::1 of localhost without IPv6.
bool IsAbsent(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }

int PortOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace

ConnectionCaps DefaultConnectionCaps() {
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) files.rlim_cur = 1024;
  const uint64_t free = files.rlim_cur - std::min<uint64_t>(files.rlim_cur, kSpareDescriptors);
  const uint64_t in_all = std::clamp<uint64_t>(free / 2, 16, kMostConnections);
  return {.in_all = in_all, .per_address = in_all / 2};
}

struct Acceptor::State {
  State(ConnectionCaps given, RpcProbe& observer) : caps(given), probe(observer) {}
  ~State() {
    for (const Connection& each : connections) frame_watch::Forget(each.fd, each.socket);
    for (const int fd : listeners) close(fd);
    if (wake >= 0) close(wake);
  }

  const ConnectionCaps caps;
  RpcProbe& probe;
  std::vector<int> listeners;
  int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::function<void(int, int)> take;
  std::vector<Connection> connections;
  std::map<std::string, Address> addresses;
  Clock::time_point swept = {};
  std::thread thread;

  void Sweep() {
    swept = Clock::now();
    std::erase_if(connections, [this](const Connection& connection) {
      if (connection.open()) return false;
      frame_watch::Forget(connection.fd, connection.socket);
      --addresses.at(connection.address).open;
      return true;
    });
    std::erase_if(addresses, [this](const auto& each) {
      return each.second.open == 0 && each.second.resets->Idle(swept);
    });
    probe.ConnectionsOpen(connections.size());
  }

  std::optional<ConnectionReject> Reject(const Address& address) const {
    if (address.resets->Refuses(Clock::now())) return ConnectionReject::kResets;
    if (connections.size() >= caps.in_all) return ConnectionReject::kInAll;
    if (address.open >= caps.per_address) return ConnectionReject::kPerAddress;
    return std::nullopt;
  }

  void Add(int listener, int fd, const sockaddr_storage& peer) {
    const std::string name = AddressOf(peer);
    std::optional<ConnectionReject> reject = Reject(addresses[name]);
    if (reject && *reject != ConnectionReject::kResets && Clock::now() - swept >= kSweepPause) {
      Sweep();
      reject = Reject(addresses[name]);
    }
    if (reject) {
      probe.ConnectionRejected(*reject);
      close(fd);
      return;
    }
    struct stat socket = {};
    fstat(fd, &socket);
    Address& address = addresses[name];
    ++address.open;
    connections.push_back({.fd = fd, .socket = socket.st_ino, .address = name});
    frame_watch::Add(fd, socket.st_ino, address.resets, probe);
    take(listener, fd);
  }

  // False if there are no descriptors.
  bool AcceptAll(int listener) {
    for (;;) {
      sockaddr_storage peer = {};
      socklen_t size = sizeof peer;
      const int fd = accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        Add(listener, fd, peer);
        continue;
      }
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
    }
  }

  void Run() {
    std::vector<pollfd> ready;
    for (const int fd : listeners) ready.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    ready.push_back({.fd = wake, .events = POLLIN, .revents = 0});
    for (;;) {
      poll(ready.data(), ready.size(), static_cast<int>(kIdleSweep.count()));
      if (ready.back().revents != 0) return;
      for (size_t i = 0; i + 1 < ready.size(); ++i) {
        if (ready[i].revents == 0 || AcceptAll(ready[i].fd)) continue;
        probe.ConnectionRejected(ConnectionReject::kDescriptors);
        poll(&ready.back(), 1, static_cast<int>(kPause.count()));
      }
      if (Clock::now() - swept >= kIdleSweep) Sweep();
    }
  }
};

Acceptor::Acceptor() = default;
Acceptor::~Acceptor() { Stop(); }

Result<std::unique_ptr<Acceptor>> Acceptor::Listen(const std::string& listen, ConnectionCaps caps,
                                                   RpcProbe& probe) {
  const auto fail = [&](std::string_view why) -> Result<std::unique_ptr<Acceptor>> {
    return Fail(Code::kUsage, "cannot listen on '{}': {}", listen, why).Field("--listen");
  };
  const size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return fail("it must be HOST:PORT");
  std::string host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), listen.c_str() + colon + 1, &hints, &found)) {
    return fail(gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &freeaddrinfo);
  std::unique_ptr<Acceptor> self(new Acceptor());
  self->state_ = std::make_unique<State>(caps, probe);
  int absent = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = ListenOn(*at, self->state_->listeners.empty() ? 0 : self->port());
    if (fd < 0 && !IsAbsent(-fd)) return fail(std::strerror(-fd));
    if (fd < 0) absent = -fd;
    if (fd >= 0) self->state_->listeners.push_back(fd);
  }
  if (self->state_->listeners.empty()) return fail(std::strerror(absent));
  return self;
}

int Acceptor::port() const { return PortOf(state_->listeners.front()); }

void Acceptor::Start(std::function<void(int, int)> take) {
  state_->take = std::move(take);
  state_->thread = std::thread([this] { state_->Run(); });
}

void Acceptor::Stop() {
  if (state_ == nullptr || !state_->thread.joinable()) return;
  const uint64_t one = 1;
  (void)!write(state_->wake, &one, sizeof one);
  state_->thread.join();
}

}  // namespace octavo::server
