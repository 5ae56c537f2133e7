// SPDX-License-Identifier: Apache-2.0
// A small HTTP server for --metrics: it answers GET of a few paths and nothing else.  It uses one
// thread and bounds the size, the number and the duration of requests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace octavo::server {

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
};

// Runs on the server's thread.  `path` excludes the query.
using HttpHandler = std::function<HttpAnswer(std::string_view path)>;

class HttpServer {
 public:
  // `listen` is HOST:PORT; port 0 selects a free port.  Fails with kUsage if the server cannot bind
  // the address.
  static Result<std::unique_ptr<HttpServer>> Start(const std::string& listen, HttpHandler handler);
  ~HttpServer();

  const std::string& address() const { return address_; }

 private:
  struct State;
  HttpServer();
  std::string address_;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
