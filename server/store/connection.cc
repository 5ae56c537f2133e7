// SPDX-License-Identifier: Apache-2.0
#include "server/store/connection.h"

#include <sqlite3.h>

#include <utility>

namespace octavo::server {
namespace {

constexpr int kBusyMilliseconds = 10'000;

struct Binder {
  sqlite3_stmt* statement;
  int index;

  int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
  int operator()(int64_t value) const { return sqlite3_bind_int64(statement, index, value); }
  int operator()(std::string_view text) const {
    // A null pointer would bind NULL.
    const char* const data = text.data() == nullptr ? "" : text.data();
    return sqlite3_bind_text64(statement, index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  int operator()(SqlBytes value) const {
    const char* const data = value.bytes.data() == nullptr ? "" : value.bytes.data();
    return sqlite3_bind_blob64(statement, index, data, value.bytes.size(), SQLITE_TRANSIENT);
  }
};

bool IsOfTheMedium(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_BUSY:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool SqlRow::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t SqlRow::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string SqlRow::Text(int column) const {
  const void* const data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr || size == 0) return {};
  return {static_cast<const char*>(data), static_cast<size_t>(size)};
}

void Connection::Closer::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Connection> Connection::Open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Connection connection(handle);
  if (handle == nullptr || code != SQLITE_OK) return connection.ErrorOf("open", code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  OCTAVO_CHECK(connection.Run("PRAGMA journal_mode=WAL"));
  OCTAVO_CHECK(connection.Run("PRAGMA synchronous=FULL"));
  OCTAVO_CHECK(connection.Run("PRAGMA foreign_keys=ON"));
  return connection;
}

Status Connection::Run(std::string_view sql, const std::vector<SqlValue>& values,
                       const std::function<void(const SqlRow&)>& row) {
  sqlite3_stmt* raw = nullptr;
  int code =
      sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return ErrorOf(sql, code);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, &sqlite3_finalize);
  for (size_t i = 0; i < values.size(); ++i) {
    code = std::visit(Binder{raw, static_cast<int>(i) + 1}, values[i]);
    if (code != SQLITE_OK) return ErrorOf(sql, code);
  }
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    if (row) row(SqlRow(raw));
  }
  if (code != SQLITE_DONE) return ErrorOf(sql, code);
  return {};
}

int64_t Connection::changes() const { return sqlite3_changes64(handle_.get()); }

Failure Connection::ErrorOf(std::string_view sql, int code) const {
  const char* const text = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  if (IsOfTheMedium(code)) {
    return Fail(Code::kResourceExhausted, "the service cannot use its database: {}", text)
        .Reason("STORAGE");
  }
  return Fail(Code::kInternal, "database: {} (error {}) in '{}'", text, code, sql.substr(0, 80));
}

}  // namespace octavo::server
