// SPDX-License-Identifier: Apache-2.0
#include "server/store/database.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "server/log/log.h"
#include "server/store/disk_files.h"
#include "server/store/failpoint.h"
#include "server/store/migrations.h"

namespace octavo::server {
namespace {

struct Change {
  Database::Step step = {};
  std::promise<Status> done = {};
};

Status ReachStep(Failpoint point, std::string_view action) {
  if (const int error = Reach(point)) return StorageError(action, error);
  return {};
}

// Runs `body` in a transaction.
Status InTransaction(Connection& connection, Failpoint commit,
                     const std::function<Status()>& body) {
  OCTAVO_CHECK(ReachStep(Failpoint::kDatabaseBegin, "begin a transaction"));
  OCTAVO_CHECK(connection.Run("BEGIN IMMEDIATE"));
  auto ok = body();
  if (ok) ok = ReachStep(commit, "commit a transaction");
  if (ok) ok = connection.Run("COMMIT");
  if (ok) return ok;
  // After some errors, SQLite has rolled back already, and this one fails.
  if (const auto undone = connection.Run("ROLLBACK"); !undone) {
    log::Debug("rollback", {{"reason", undone.error().message}});
  }
  return ok;
}

Status Migrate(Connection& connection, std::span<const Database::Migration> migrations) {
  size_t version = 0;
  OCTAVO_CHECK(connection.Run("PRAGMA user_version", {}, [&](const SqlRow& row) {
    version = static_cast<size_t>(row.Int(0));
  }));
  if (version > migrations.size()) {
    return Fail(
               Code::kUsage,
               "--state-dir: the database has version {}, and this program knows versions up to {}",
               version, migrations.size())
        .Field("--state-dir");
  }
  for (; version < migrations.size(); ++version) {
    OCTAVO_CHECK(InTransaction(connection, Failpoint::kDatabaseMigrate, [&]() -> Status {
      for (const char* statement : migrations[version]) OCTAVO_CHECK(connection.Run(statement));
      return connection.Run(fmt::format("PRAGMA user_version = {}", version + 1));
    }));
  }
  return {};
}

// Applies one change of a transaction; if it fails, the others still apply.
Status ApplyOne(Connection& connection, const Database::Step& step) {
  OCTAVO_CHECK(connection.Run("SAVEPOINT change"));
  auto ok = step(connection);
  if (!ok) OCTAVO_CHECK(connection.Run("ROLLBACK TO change"));
  OCTAVO_CHECK(connection.Run("RELEASE change"));
  return ok;
}

}  // namespace

struct Database::State {
  State(Connection for_writing, Connection for_reading)
      : writing(std::move(for_writing)), reading(std::move(for_reading)) {}

  Connection writing;
  std::mutex read_mutex = {};
  Connection reading;

  std::mutex mutex = {};
  std::condition_variable arrived = {};
  std::deque<Change> changes = {};
  bool closing = false;
  std::thread writer = {};

  void WriteUntilEnd();
  void Apply(std::deque<Change> batch);
};

void Database::State::WriteUntilEnd() {
  std::unique_lock lock(mutex);
  while (true) {
    arrived.wait(lock, [&] { return closing || !changes.empty(); });
    if (changes.empty()) return;
    std::deque<Change> batch = std::exchange(changes, {});
    lock.unlock();
    Apply(std::move(batch));
    lock.lock();
  }
}

void Database::State::Apply(std::deque<Change> batch) {
  std::vector<Status> outcomes;
  const auto committed = InTransaction(writing, Failpoint::kDatabaseCommit, [&]() -> Status {
    for (const Change& change : batch) outcomes.push_back(ApplyOne(writing, change.step));
    return {};
  });
  if (committed) Reach(Failpoint::kDatabaseDone);
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].done.set_value(committed ? std::move(outcomes[i]) : committed);
  }
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->writer = std::thread([state = state_.get()] { state->WriteUntilEnd(); });
}

Database::~Database() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->closing = true;
  }
  state_->arrived.notify_all();
  state_->writer.join();
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  return Open(path, Migrations());
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path,
                                                 std::span<const Migration> migrations) {
  const auto unusable = [&](const Error& error) {
    return Fail(Code::kUsage, "--state-dir: cannot use '{}': {}", path, error.message)
        .Field("--state-dir");
  };
  auto writing = Connection::Open(path);
  if (!writing) return unusable(writing.error());
  if (auto ok = Migrate(*writing, migrations); !ok) {
    if (ok.error().code == Code::kUsage) return Forward(ok.error());
    return unusable(ok.error());
  }
  auto reading = Connection::Open(path);
  if (!reading) return unusable(reading.error());
  auto state = std::make_unique<State>(std::move(*writing), std::move(*reading));
  return std::unique_ptr<Database>(new Database(std::move(state)));
}

Status Database::Write(Step change) {
  Change item{.step = std::move(change)};
  std::future<Status> done = item.done.get_future();
  {
    const std::scoped_lock lock(state_->mutex);
    state_->changes.push_back(std::move(item));
  }
  state_->arrived.notify_all();
  return done.get();
}

void Database::WriteLater(Step change) {
  Change item{.step = [change = std::move(change)](Connection& connection) -> Status {
    auto ok = change(connection);
    if (!ok) log::Warning("database not written", {{"reason", ok.error().message}});
    return ok;
  }};
  {
    const std::scoped_lock lock(state_->mutex);
    state_->changes.push_back(std::move(item));
  }
  state_->arrived.notify_all();
}

Status Database::Read(const Step& query) const {
  const std::scoped_lock lock(state_->read_mutex);
  return query(state_->reading);
}

}  // namespace octavo::server
