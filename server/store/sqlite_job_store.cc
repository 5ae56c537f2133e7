// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <utility>

#include "server/store/job_store.h"

namespace octavo::server {
namespace {

constexpr std::string_view kColumns =
    "number, job_id, request_id, client, model, action, spec, priority, detached, state, attempt,"
    " created, started, ended, sequence, stage, pass, done, total, error_code, error_reason,"
    " error_message, error_node, error_field, gate_failed, message";
// A page of specs could have a gigabyte.
constexpr std::string_view kColumnsWithoutSpec =
    "number, job_id, request_id, client, model, action, '', priority, detached, state, attempt,"
    " created, started, ended, sequence, stage, pass, done, total, error_code, error_reason,"
    " error_message, error_node, error_field, gate_failed, message";

struct Numbered {
  int64_t number = 0;
  JobRecord record = {};
};

JobTime TimeOf(int64_t milliseconds) { return JobTime(std::chrono::milliseconds(milliseconds)); }

Numbered ReadRow(const SqlRow& row) {
  Numbered found{.number = row.Int(0)};
  JobRecord& record = found.record;
  record.job = {.job_id = row.Text(1),
                .request_id = row.Text(2),
                .client = row.Text(3),
                .model = row.Text(4),
                .action = row.Text(5),
                .spec = row.Text(6),
                .priority = static_cast<int>(row.Int(7)),
                .detached = row.Int(8) != 0};
  record.state = static_cast<JobState>(row.Int(9));
  record.attempt = static_cast<int>(row.Int(10));
  record.created = TimeOf(row.Int(11));
  if (!row.IsNull(12)) record.started = TimeOf(row.Int(12));
  if (!row.IsNull(13)) record.ended = TimeOf(row.Int(13));
  record.progress = {.sequence = static_cast<uint64_t>(row.Int(14)),
                     .stage = row.Text(15),
                     .pass = row.Text(16),
                     .done = row.Int(17),
                     .total = row.Int(18)};
  if (!row.IsNull(19)) {
    record.error = Error{.code = static_cast<Code>(row.Int(19)),
                         .message = row.Text(21),
                         .reason = row.Text(20),
                         .node = row.Text(22),
                         .field = row.Text(23)};
  }
  record.result.gate_failed = row.Int(24) != 0;
  record.result.message = row.Text(25);
  return found;
}

// The rows that other tables have for a job.
Status ReadLists(Connection& from, Numbered& found) {
  OCTAVO_CHECK(
      from.Run("SELECT label FROM job_labels WHERE number = ?1 ORDER BY label", {found.number},
               [&](const SqlRow& row) { found.record.job.labels.push_back(row.Text(0)); }));
  return from.Run(
      "SELECT role, name, size_bytes, sha256 FROM job_blobs WHERE number = ?1 ORDER BY position",
      {found.number}, [&](const SqlRow& row) {
        found.record.result.blobs.push_back(
            {.role = static_cast<uint32_t>(row.Int(0)),
             .name = row.Text(1),
             .digest = {.sha256 = row.Text(3), .size_bytes = static_cast<uint64_t>(row.Int(2))}});
      });
}

Result<std::vector<Numbered>> Select(Connection& from, std::string_view where,
                                     const std::vector<SqlValue>& values,
                                     std::string_view columns = kColumns) {
  std::vector<Numbered> found;
  OCTAVO_CHECK(from.Run(fmt::format("SELECT {} FROM jobs WHERE {}", columns, where), values,
                        [&](const SqlRow& row) { found.push_back(ReadRow(row)); }));
  for (Numbered& job : found) OCTAVO_CHECK(ReadLists(from, job));
  return found;
}

Result<Numbered> SelectOne(Connection& from, const std::string& job_id) {
  OCTAVO_TRY(std::vector<Numbered> found, Select(from, "job_id = ?1", {job_id}));
  if (found.empty()) return NoSuchJob(job_id);
  return std::move(found.front());
}

bool HasEnded(JobState state) { return state != JobState::kQueued && state != JobState::kRunning; }

Status WriteEnd(Connection& to, int64_t number, const JobEnd& end, int64_t now) {
  std::vector<SqlValue> values = {number, static_cast<int64_t>(end.state), now,
                                  int64_t{end.result.gate_failed}, end.result.message};
  if (end.error) {
    values.insert(values.end(), {static_cast<int64_t>(end.error->code), end.error->reason,
                                 end.error->message, end.error->node, end.error->field});
  }
  // Parameters without a value are NULL.
  OCTAVO_CHECK(
      to.Run("UPDATE jobs SET state = ?2, ended = ?3, gate_failed = ?4, message = ?5,"
             " error_code = ?6, error_reason = ?7, error_message = ?8, error_node = ?9,"
             " error_field = ?10 WHERE number = ?1",
             values));
  for (size_t i = 0; i < end.result.blobs.size(); ++i) {
    const ResultBlob& blob = end.result.blobs[i];
    OCTAVO_CHECK(to.Run("INSERT INTO job_blobs VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                        {number, static_cast<int64_t>(i), int64_t{blob.role}, blob.name,
                         static_cast<int64_t>(blob.digest.size_bytes), blob.digest.sha256}));
  }
  return {};
}

Status Insert(Connection& to, const NewJob& job, int64_t now) {
  OCTAVO_CHECK(
      to.Run("INSERT INTO jobs (job_id, request_id, client, model, action, spec, priority, "
             "detached, state,"
             " attempt, created, sequence, stage, pass, done, total, gate_failed, message)"
             " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10, 0, '', '', 0, 0, 0, '')",
             {job.job_id, job.request_id, job.client, job.model, job.action, SqlBytes{job.spec},
              int64_t{job.priority}, int64_t{job.detached}, static_cast<int64_t>(JobState::kQueued),
              now}));
  for (const std::string& label : job.labels) {
    OCTAVO_CHECK(
        to.Run("INSERT OR IGNORE INTO job_labels SELECT number, ?2 FROM jobs WHERE job_id = ?1",
               {job.job_id, label}));
  }
  return {};
}

class SqliteJobStore : public JobStore {
 public:
  SqliteJobStore(Database& database, JobClock now) : database_(database), now_(std::move(now)) {}

  Result<JobRecord> Create(const NewJob& job) override;
  Status Start(const std::string& job_id) override;
  Status Requeue(const std::string& job_id) override;
  void Advance(const std::string& job_id, const JobProgress& progress) override;
  Status Finish(const std::string& job_id, const JobEnd& end) override;
  Result<std::optional<JobRecord>> Find(const std::string& job_id) override;
  Result<JobPage> List(const JobFilter& filter) override;
  Status Delete(const std::string& job_id) override;
  Result<std::vector<std::string>> Forget(JobTime time, uint64_t most_bytes) override;
  void Note(const JobRecord& record) override;
  Result<std::vector<JobBlobs>> KeptBlobs() override;
  Result<std::vector<JobRecord>> Recover() override;
  Status RecordCrash(const std::string& action) override;
  Result<bool> IsPoisoned(const std::string& action) override;

 private:
  int64_t Now() const {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(now_())
        .time_since_epoch()
        .count();
  }
  int64_t ADayAgo() const { return Now() - std::chrono::milliseconds(kDay).count(); }

  Database& database_;
  const JobClock now_;
};

Result<JobRecord> SqliteJobStore::Create(const NewJob& job) {
  JobRecord created;
  OCTAVO_CHECK(database_.Write([&](Connection& to) -> Status {
    if (!job.request_id.empty()) {
      OCTAVO_TRY(std::vector<Numbered> earlier,
                 Select(to, "client = ?1 AND request_id = ?2 AND created > ?3 ORDER BY number",
                        {job.client, job.request_id, ADayAgo()}));
      if (!earlier.empty()) {
        created = std::move(earlier.front().record);
        return {};
      }
    }
    OCTAVO_CHECK(Insert(to, job, Now()));
    OCTAVO_TRY(Numbered inserted, SelectOne(to, job.job_id));
    created = std::move(inserted.record);
    return {};
  }));
  return created;
}

Status SqliteJobStore::Start(const std::string& job_id) {
  return database_.Write([&](Connection& to) -> Status {
    OCTAVO_TRY(const Numbered job, SelectOne(to, job_id));
    if (job.record.state != JobState::kQueued) {
      return WrongState(job_id, job.record.state, "queued");
    }
    return to.Run(
        "UPDATE jobs SET state = ?2, started = ?3, attempt = attempt + 1 WHERE number = ?1",
        {job.number, static_cast<int64_t>(JobState::kRunning), Now()});
  });
}

Status SqliteJobStore::Requeue(const std::string& job_id) {
  return database_.Write([&](Connection& to) -> Status {
    OCTAVO_TRY(const Numbered job, SelectOne(to, job_id));
    if (job.record.state != JobState::kRunning) {
      return WrongState(job_id, job.record.state, "running");
    }
    return to.Run("UPDATE jobs SET state = ?2, attempt = attempt - 1 WHERE number = ?1",
                  {job.number, static_cast<int64_t>(JobState::kQueued)});
  });
}

void SqliteJobStore::Advance(const std::string& job_id, const JobProgress& progress) {
  database_.WriteLater([job_id, progress](Connection& to) {
    return to.Run(
        "UPDATE jobs SET sequence = ?2, stage = ?3, pass = ?4, done = ?5, total = ?6"
        " WHERE job_id = ?1 AND state = ?7",
        {job_id, static_cast<int64_t>(progress.sequence), progress.stage, progress.pass,
         progress.done, progress.total, static_cast<int64_t>(JobState::kRunning)});
  });
}

Status SqliteJobStore::Finish(const std::string& job_id, const JobEnd& end) {
  return database_.Write([&](Connection& to) -> Status {
    OCTAVO_TRY(const Numbered job, SelectOne(to, job_id));
    if (HasEnded(job.record.state)) {
      return WrongState(job_id, job.record.state, "queued or running");
    }
    return WriteEnd(to, job.number, end, Now());
  });
}

Result<std::optional<JobRecord>> SqliteJobStore::Find(const std::string& job_id) {
  std::optional<JobRecord> found;
  OCTAVO_CHECK(database_.Read([&](Connection& from) -> Status {
    OCTAVO_TRY(std::vector<Numbered> jobs, Select(from, "job_id = ?1", {job_id}));
    if (!jobs.empty()) found = std::move(jobs.front().record);
    return {};
  }));
  return found;
}

Result<JobPage> SqliteJobStore::List(const JobFilter& filter) {
  OCTAVO_CHECK(CheckFilter(filter));
  int64_t before = INT64_MAX;
  std::from_chars(filter.page_token.data(), filter.page_token.data() + filter.page_token.size(),
                  before);
  std::string where = "number < ?1";
  if (filter.state) where += " AND state = ?2";
  if (!filter.label.empty()) {
    where += " AND number IN (SELECT number FROM job_labels WHERE label = ?3)";
  }
  if (!filter.action.empty()) where += " AND action = ?4";
  where += " ORDER BY number DESC LIMIT ?5";
  const auto state = static_cast<int64_t>(filter.state.value_or(JobState::kQueued));
  JobPage page;
  OCTAVO_CHECK(database_.Read([&](Connection& from) -> Status {
    // One more tells whether another page follows.
    OCTAVO_TRY(std::vector<Numbered> jobs,
               Select(from, where,
                      {before, state, filter.label, filter.action, int64_t{filter.page_size} + 1},
                      kColumnsWithoutSpec));
    if (jobs.size() > static_cast<size_t>(filter.page_size)) {
      jobs.pop_back();
      page.next_page_token = fmt::format("{}", jobs.back().number);
    }
    for (Numbered& job : jobs) page.jobs.push_back(std::move(job.record));
    return {};
  }));
  return page;
}

Status SqliteJobStore::Delete(const std::string& job_id) {
  return database_.Write([&](Connection& to) -> Status {
    OCTAVO_TRY(const Numbered job, SelectOne(to, job_id));
    if (!HasEnded(job.record.state)) return WrongState(job_id, job.record.state, "ended");
    return to.Run("DELETE FROM jobs WHERE number = ?1", {job.number});
  });
}

// Deletes the oldest ended jobs until the others count at most `most_bytes`.
Status TrimEnded(Connection& to, int64_t most_bytes, std::vector<std::string>& ids) {
  int64_t excess = 0;
  OCTAVO_CHECK(to.Run("SELECT ended_job_bytes FROM totals", {},
                      [&](const SqlRow& row) { excess = row.Int(0) - most_bytes; }));
  if (excess <= 0) return {};
  std::vector<int64_t> oldest;
  // Each counts 1 KiB at least, so no more of them go.
  OCTAVO_CHECK(
      to.Run("SELECT number, job_id, length(spec) + 1024 FROM jobs WHERE ended IS NOT NULL"
             " ORDER BY ended, number LIMIT ?1",
             {excess / 1024 + 1}, [&](const SqlRow& row) {
               if (excess <= 0) return;
               oldest.push_back(row.Int(0));
               ids.push_back(row.Text(1));
               excess -= row.Int(2);
             }));
  for (const int64_t number : oldest) {
    OCTAVO_CHECK(to.Run("DELETE FROM jobs WHERE number = ?1", {number}));
  }
  return {};
}

Result<std::vector<std::string>> SqliteJobStore::Forget(JobTime time, uint64_t most_bytes) {
  std::vector<std::string> ids;
  OCTAVO_CHECK(database_.Write([&](Connection& to) -> Status {
    OCTAVO_CHECK(to.Run("DELETE FROM jobs WHERE ended < ?1 RETURNING job_id",
                        {time.time_since_epoch().count()},
                        [&](const SqlRow& row) { ids.push_back(row.Text(0)); }));
    return TrimEnded(to, static_cast<int64_t>(most_bytes), ids);
  }));
  return ids;
}

void SqliteJobStore::Note(const JobRecord& record) {
  database_.WriteLater([record](Connection& to) -> Status {
    const NewJob& job = record.job;
    OCTAVO_CHECK(to.Run("DELETE FROM jobs WHERE job_id = ?1", {job.job_id}));
    OCTAVO_CHECK(Insert(to, job, record.created.time_since_epoch().count()));
    OCTAVO_TRY(const Numbered row, SelectOne(to, job.job_id));
    if (record.started) {
      OCTAVO_CHECK(
          to.Run("UPDATE jobs SET state = ?2, started = ?3, attempt = ?4 WHERE number = ?1",
                 {row.number, static_cast<int64_t>(record.state),
                  record.started->time_since_epoch().count(), int64_t{record.attempt}}));
    }
    if (!record.ended) return {};
    const JobEnd end = {.state = record.state, .error = record.error, .result = record.result};
    return WriteEnd(to, row.number, end, record.ended->time_since_epoch().count());
  });
}

Result<std::vector<JobBlobs>> SqliteJobStore::KeptBlobs() {
  std::vector<JobBlobs> all;
  OCTAVO_CHECK(database_.Read([&](Connection& from) {
    return from.Run(
        "SELECT job_id, sha256, size_bytes FROM jobs JOIN job_blobs USING (number)"
        " WHERE state = ?1 AND detached ORDER BY number, position",
        {static_cast<int64_t>(JobState::kSucceeded)}, [&](const SqlRow& row) {
          if (all.empty() || all.back().job_id != row.Text(0)) all.push_back({row.Text(0)});
          all.back().blobs.push_back(
              {.sha256 = row.Text(1), .size_bytes = static_cast<uint64_t>(row.Int(2))});
        });
  }));
  return all;
}

Result<std::vector<JobRecord>> SqliteJobStore::Recover() {
  std::vector<JobRecord> queued;
  OCTAVO_CHECK(database_.Write([&](Connection& to) -> Status {
    OCTAVO_TRY(std::vector<Numbered> open, Select(to, "state IN (?1, ?2) ORDER BY number",
                                                  {static_cast<int64_t>(JobState::kQueued),
                                                   static_cast<int64_t>(JobState::kRunning)}));
    for (Numbered& job : open) {
      JobRecord& record = job.record;
      if (!record.job.detached) {
        OCTAVO_CHECK(WriteEnd(to, job.number, EndOfCall(), Now()));
        continue;
      }
      if (record.state == JobState::kRunning && record.attempt >= kAttempts) {
        OCTAVO_CHECK(WriteEnd(to, job.number, EndOfAttempts(record.attempt), Now()));
        continue;
      }
      record.state = JobState::kQueued;
      OCTAVO_CHECK(to.Run("UPDATE jobs SET state = ?2 WHERE number = ?1",
                          {job.number, static_cast<int64_t>(record.state)}));
      queued.push_back(std::move(record));
    }
    return {};
  }));
  return queued;
}

Status SqliteJobStore::RecordCrash(const std::string& action) {
  return database_.Write([&](Connection& to) -> Status {
    OCTAVO_CHECK(to.Run("DELETE FROM crashes WHERE last <= ?1", {ADayAgo()}));
    return to.Run(
        "INSERT INTO crashes VALUES (?1, 1, ?2)"
        " ON CONFLICT (action) DO UPDATE SET count = count + 1, last = ?2",
        {action, Now()});
  });
}

Result<bool> SqliteJobStore::IsPoisoned(const std::string& action) {
  bool poisoned = false;
  OCTAVO_CHECK(database_.Read([&](Connection& from) {
    return from.Run("SELECT 1 FROM crashes WHERE action = ?1 AND count >= ?2 AND last > ?3",
                    {action, int64_t{kCrashes}, ADayAgo()},
                    [&](const SqlRow&) { poisoned = true; });
  }));
  return poisoned;
}

}  // namespace

std::unique_ptr<JobStore> MakeJobStore(Database& database, JobClock now) {
  return std::make_unique<SqliteJobStore>(database, std::move(now));
}

}  // namespace octavo::server
