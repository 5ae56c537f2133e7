// SPDX-License-Identifier: Apache-2.0
// Any bytes to the metrics address: the server answers or closes, and answers the next request.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>

#include "server/http/http_server.h"

namespace octavo::server {
namespace {

constexpr std::string_view kRequest = "GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n";

HttpServer& TheServer() {
  static auto& server = *new std::unique_ptr<HttpServer>([] {
    auto started = HttpServer::Start("127.0.0.1:0", [](std::string_view path) {
      return HttpAnswer{.body = "ok " + std::string(path)};
    });
    if (!started) std::abort();
    return std::move(*started);
  }());
  return *server;
}

uint16_t PortOf(const std::string& address) {
  uint16_t port = 0;
  const std::string digits = address.substr(address.rfind(':') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return port;
}

// What libFuzzer's timer interrupts is done again.
template <typename Call>
auto Uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

sockaddr_in Loopback(uint32_t host, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl((IN_LOOPBACKNET << 24) + host);
  return address;
}

// A socket connected to the server.  The address is another one each time: a port stays busy for a
// minute after its connection, and one address has too few for a minute of connections.
int Connect() {
  static uint32_t connections = 0;
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in from = Loopback(1 + connections++ % 1000, 0);
  const sockaddr_in to = Loopback(1, PortOf(TheServer().address()));
  const auto* source = reinterpret_cast<const sockaddr*>(&from);
  const auto* target = reinterpret_cast<const sockaddr*>(&to);
  if (bind(client, source, sizeof(from)) != 0) std::abort();
  // A signal does not end a connection attempt: asking again says how it went.
  const int connected = Uninterrupted([&] { return connect(client, target, sizeof(to)); });
  if (connected != 0 && errno != EISCONN) std::abort();
  return client;
}

// Sends the bytes and reads until the server closes.
std::string Answer(std::string_view bytes) {
  const int one = 1;
  const int client = Connect();
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  (void)Uninterrupted([&] { return send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
  shutdown(client, SHUT_WR);
  std::string answer;
  std::array<char, 4096> buffer;
  const auto receive = [&] { return recv(client, buffer.data(), buffer.size(), 0); };
  for (ssize_t got = 0; (got = Uninterrupted(receive)) > 0;) {
    answer.append(buffer.data(), static_cast<size_t>(got));
  }
  close(client);
  return answer;
}

}  // namespace
}  // namespace octavo::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using octavo::server::Answer;
  Answer({reinterpret_cast<const char*>(data), size});
  if (Answer(octavo::server::kRequest).find("ok /livez") == std::string::npos) std::abort();
  return 0;
}
