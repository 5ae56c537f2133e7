// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <optional>
#include <thread>
#include <utility>

namespace octavo::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr size_t kMaxConnections = 64;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr auto kPatience = std::chrono::seconds(10);

struct Address {
  std::string host;
  std::string port;
};

// Splits "[::1]:9464", "0.0.0.0:9464" or ":9464" into host and port.
std::optional<Address> Split(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  if (colon == std::string::npos || colon + 1 == listen.size()) return std::nullopt;
  std::string host = listen.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return Address{host, listen.substr(colon + 1)};
}

// One connection.  Pending operations own it, so it lives until the last one completes.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // Connections that exist, those that have been idle for longest first.
  using List = std::list<Connection*>;

  Connection(tcp::socket socket, const HttpHandler& handler, List& open)
      : stream_(std::move(socket)), handler_(handler), open_(open) {
    place_ = open_.insert(open_.end(), this);
  }
  ~Connection() { open_.erase(place_); }

  void Read() {
    parser_.emplace();
    parser_->header_limit(8 << 10);
    parser_->body_limit(0);
    idle_ = true;
    open_.splice(open_.end(), open_, place_);
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Error error, size_t) { self->OnRead(error); });
  }

  // Waits for a request, or for the rest of one.
  bool idle() const { return idle_; }
  // Its pending operation fails, which ends it.
  void Close() {
    idle_ = false;
    stream_.close();
  }

 private:
  void OnRead(Error error) {
    idle_ = false;
    if (error) return;
    const auto& request = parser_->get();
    const bool head = request.method() == http::verb::head;
    HttpAnswer answer{.status = 405, .body = "only GET\n"};
    if (head || request.method() == http::verb::get) {
      const std::string target(request.target());
      answer = handler_(std::string_view(target).substr(0, target.find('?')));
    }
    response_ = {};
    response_.version(request.version());
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::content_type, answer.content_type);
    response_.keep_alive(request.keep_alive());
    if (!head) response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_, [self = shared_from_this()](Error failed, size_t) {
      self->OnWritten(failed);
    });
  }

  void OnWritten(Error error) {
    if (error) return;
    if (response_.keep_alive()) return Read();
    Error ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  const HttpHandler& handler_;
  List& open_;
  List::iterator place_;
  bool idle_ = false;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

}  // namespace

struct HttpServer::State {
  HttpHandler handler;
  Connection::List open;  // outlives the context, whose operations own the connections
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::thread thread;

  // Makes room for one more; false if all connections are being answered.
  bool MakeRoom() {
    size_t closing = 0;
    for (Connection* connection : open) {
      if (open.size() - closing < kMaxConnections) return true;
      if (!connection->idle()) continue;
      connection->Close();
      ++closing;
    }
    return open.size() - closing < kMaxConnections;
  }

  void Accept() {
    acceptor.async_accept([this](Error error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return AcceptLater();
      // Without room the socket goes out of scope, which closes it.
      if (MakeRoom()) std::make_shared<Connection>(std::move(socket), handler, open)->Read();
      Accept();
    });
  }

  // Without descriptors, accepting fails at once and would fail again.
  void AcceptLater() {
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](Error error) {
      if (!error) Accept();
    });
  }
};

HttpServer::HttpServer() : state_(std::make_unique<State>()) {}

HttpServer::~HttpServer() {
  state_->context.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& listen,
                                                      HttpHandler handler) {
  const auto fail = [&](std::string_view why) -> Result<std::unique_ptr<HttpServer>> {
    return Fail(Code::kUsage, "cannot listen on '{}': {}", listen, why).Field("--metrics");
  };
  const auto address = Split(listen);
  if (!address) return fail("it must be HOST:PORT");
  std::unique_ptr<HttpServer> self(new HttpServer());
  State& state = *self->state_;
  state.handler = std::move(handler);
  Error error;
  tcp::resolver resolver(state.context);
  const auto found = resolver.resolve(
      address->host, address->port, tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) return fail(error.message());
  const tcp::endpoint endpoint = *found.begin();
  state.acceptor.open(endpoint.protocol(), error);
  if (!error) state.acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) state.acceptor.bind(endpoint, error);
  if (!error) state.acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) return fail(error.message());
  self->address_ = fmt::format("{}:{}", listen.substr(0, listen.rfind(':')),
                               state.acceptor.local_endpoint().port());
  state.Accept();
  state.thread = std::thread([&state] { state.context.run(); });
  return self;
}

}  // namespace octavo::server
