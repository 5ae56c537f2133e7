// SPDX-License-Identifier: Apache-2.0
// The SQLite file of a service: WAL, synchronous=FULL.  One thread writes; changes that wait
// together share a transaction, and so a sync.  Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "server/store/connection.h"

namespace octavo::server {

class Database {
 public:
  using Step = std::function<Status(Connection&)>;

  // Creates or opens the file and migrates its tables forward.  kUsage if it cannot be used, is
  // damaged, or was written by a later version.
  static Result<std::unique_ptr<Database>> Open(const std::string& path);
  // The same with other migrations, for tests: each is a list of statements, and user_version is
  // the number of those that the file has.
  using Migration = std::span<const char* const>;
  static Result<std::unique_ptr<Database>> Open(const std::string& path,
                                                std::span<const Migration> migrations);
  // Ends after all changes.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Applies `change` and returns when it is durable.  If it fails, it changes nothing.
  Status Write(Step change);
  // The same without waiting; a failure is logged.
  void WriteLater(Step change);
  // Runs `query` on what is durable.
  Status Read(const Step& query) const;

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
