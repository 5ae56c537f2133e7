// SPDX-License-Identifier: Apache-2.0
#include "server/store/migrations.h"

namespace octavo::server {
namespace {

// A migration that has been released must not change; add another one below it.
constexpr const char* kFirst[] = {
    "CREATE TABLE results (action TEXT PRIMARY KEY, gate_failed INTEGER NOT NULL,"
    " message TEXT NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX results_by_use ON results (used)",
    "CREATE TABLE result_blobs (action TEXT NOT NULL REFERENCES results ON DELETE CASCADE,"
    " position INTEGER NOT NULL, role INTEGER NOT NULL, name TEXT NOT NULL,"
    " size_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,"
    " PRIMARY KEY (action, position)) WITHOUT ROWID",

    "CREATE TABLE jobs (number INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT NOT NULL UNIQUE,"
    " request_id TEXT NOT NULL, client TEXT NOT NULL, model TEXT NOT NULL, action TEXT NOT NULL,"
    " spec BLOB NOT NULL, priority INTEGER NOT NULL, detached INTEGER NOT NULL,"
    " state INTEGER NOT NULL, attempt INTEGER NOT NULL, created INTEGER NOT NULL,"
    " started INTEGER, ended INTEGER, sequence INTEGER NOT NULL, stage TEXT NOT NULL,"
    " pass TEXT NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL, error_code INTEGER,"
    " error_reason TEXT, error_message TEXT, error_node TEXT, error_field TEXT,"
    " gate_failed INTEGER NOT NULL, message TEXT NOT NULL)",
    "CREATE INDEX jobs_by_state ON jobs (state, number)",
    "CREATE INDEX jobs_by_end ON jobs (ended) WHERE ended IS NOT NULL",
    "CREATE INDEX jobs_by_request ON jobs (client, request_id) WHERE request_id != ''",
    "CREATE TABLE job_labels (number INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,"
    " label TEXT NOT NULL, PRIMARY KEY (label, number)) WITHOUT ROWID",
    "CREATE INDEX job_labels_by_job ON job_labels (number)",
    "CREATE TABLE job_blobs (number INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE,"
    " position INTEGER NOT NULL, role INTEGER NOT NULL, name TEXT NOT NULL,"
    " size_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,"
    " PRIMARY KEY (number, position)) WITHOUT ROWID",

    "CREATE TABLE crashes (action TEXT PRIMARY KEY, count INTEGER NOT NULL,"
    " last INTEGER NOT NULL) WITHOUT ROWID",
};

constexpr const char* kSecond[] = {
    "CREATE INDEX jobs_by_action ON jobs (action, number)",
};

// What the limits of these tables are compared with: to count the rows each time takes longer the
// more there are.  A job counts 1 KiB and its spec.
constexpr const char* kThird[] = {
    "CREATE TABLE totals (results INTEGER NOT NULL, ended_job_bytes INTEGER NOT NULL)",
    "INSERT INTO totals SELECT (SELECT COUNT(*) FROM results),"
    " (SELECT IFNULL(SUM(length(spec) + 1024), 0) FROM jobs WHERE ended IS NOT NULL)",
    "CREATE TRIGGER result_comes AFTER INSERT ON results"
    " BEGIN UPDATE totals SET results = results + 1; END",
    "CREATE TRIGGER result_goes AFTER DELETE ON results"
    " BEGIN UPDATE totals SET results = results - 1; END",
    "CREATE TRIGGER ended_job_comes AFTER INSERT ON jobs WHEN NEW.ended IS NOT NULL"
    " BEGIN UPDATE totals SET ended_job_bytes = ended_job_bytes + length(NEW.spec) + 1024; END",
    "CREATE TRIGGER job_ends AFTER UPDATE OF ended ON jobs"
    " WHEN OLD.ended IS NULL AND NEW.ended IS NOT NULL"
    " BEGIN UPDATE totals SET ended_job_bytes = ended_job_bytes + length(NEW.spec) + 1024; END",
    "CREATE TRIGGER ended_job_goes AFTER DELETE ON jobs WHEN OLD.ended IS NOT NULL"
    " BEGIN UPDATE totals SET ended_job_bytes = ended_job_bytes - length(OLD.spec) - 1024; END",
};

constexpr Database::Migration kMigrations[] = {kFirst, kSecond, kThird};

}  // namespace

std::span<const Database::Migration> Migrations() { return kMigrations; }

}  // namespace octavo::server
