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

constexpr Database::Migration kMigrations[] = {kFirst};

}  // namespace

std::span<const Database::Migration> Migrations() { return kMigrations; }

}  // namespace octavo::server
