// SPDX-License-Identifier: Apache-2.0
// The small HTTP server behind --metrics: GET of a few paths, nothing else.  One thread; requests
// are bounded in size, number and time.
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

// Called on the server's thread with the path, query cut off.
using HttpHandler = std::function<HttpAnswer(std::string_view path)>;

class HttpServer {
 public:
  // `listen` is HOST:PORT; port 0 chooses one.  kUsage if the address cannot be bound.
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
