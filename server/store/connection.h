// SPDX-License-Identifier: Apache-2.0
// One connection to an SQLite file.  For one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace octavo::server {

// A value of a statement's parameter: NULL, an integer, a text, or bytes.
struct SqlBytes {
  std::string_view bytes = {};
};
using SqlValue = std::variant<std::monostate, int64_t, std::string_view, SqlBytes>;

class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}
  bool IsNull(int column) const;
  int64_t Int(int column) const;
  std::string Text(int column) const;  // of bytes, too

 private:
  sqlite3_stmt* statement_;
};

class Connection {
 public:
  static Result<Connection> Open(const std::string& path);

  // Runs one statement with ?1, ?2 ... bound to `values` and calls `row` for each row.  A full disk
  // and errors of the medium are STORAGE.
  Status Run(std::string_view sql, const std::vector<SqlValue>& values = {},
             const std::function<void(const SqlRow&)>& row = {});
  // How many rows the last statement changed.
  int64_t changes() const;

 private:
  struct Closer {
    void operator()(sqlite3* handle) const;
  };
  explicit Connection(sqlite3* handle) : handle_(handle) {}
  Failure ErrorOf(std::string_view sql, int code) const;

  std::unique_ptr<sqlite3, Closer> handle_;
};

}  // namespace octavo::server
