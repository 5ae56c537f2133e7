// SPDX-License-Identifier: Apache-2.0
#include "server/store/result_index.h"

#include <chrono>

namespace octavo::server {
namespace {

// How old the time of use of an entry may be; a later Find writes it again.
constexpr int64_t kUsePeriod = 60'000;

int64_t Milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Status ResultIndex::Put(const std::string& action, const StoredResult& result) {
  return database_.Write([&](Connection& to) -> Status {
    OCTAVO_CHECK(to.Run("DELETE FROM results WHERE action = ?1", {action}));
    OCTAVO_CHECK(to.Run("INSERT INTO results VALUES (?1, ?2, ?3, ?4)",
                        {action, int64_t{result.gate_failed}, result.message, Milliseconds()}));
    for (size_t i = 0; i < result.blobs.size(); ++i) {
      const ResultBlob& blob = result.blobs[i];
      OCTAVO_CHECK(to.Run("INSERT INTO result_blobs VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                          {action, static_cast<int64_t>(i), int64_t{blob.role}, blob.name,
                           static_cast<int64_t>(blob.digest.size_bytes), blob.digest.sha256}));
    }
    return to.Run(
        "DELETE FROM results WHERE action IN (SELECT action FROM results"
        " ORDER BY used DESC, action LIMIT -1 OFFSET ?1)",
        {static_cast<int64_t>(most_)});
  });
}

Result<std::optional<StoredResult>> ResultIndex::Find(const std::string& action) {
  std::optional<StoredResult> found;
  int64_t used = 0;
  OCTAVO_CHECK(database_.Read([&](Connection& from) -> Status {
    OCTAVO_CHECK(from.Run("BEGIN"));
    auto ok = from.Run("SELECT gate_failed, message, used FROM results WHERE action = ?1", {action},
                       [&](const SqlRow& row) {
                         found =
                             StoredResult{.gate_failed = row.Int(0) != 0, .message = row.Text(1)};
                         used = row.Int(2);
                       });
    if (ok && found) {
      ok = from.Run(
          "SELECT role, name, size_bytes, sha256 FROM result_blobs WHERE action = ?1"
          " ORDER BY position",
          {action}, [&](const SqlRow& row) {
            found->blobs.push_back({.role = static_cast<uint32_t>(row.Int(0)),
                                    .name = row.Text(1),
                                    .digest = {.sha256 = row.Text(3),
                                               .size_bytes = static_cast<uint64_t>(row.Int(2))}});
          });
    }
    auto ended = from.Run("COMMIT");
    return ok ? ended : ok;
  }));
  const int64_t now = Milliseconds();
  if (found && now - used > kUsePeriod) {
    database_.WriteLater([action, now](Connection& to) {
      return to.Run("UPDATE results SET used = ?2 WHERE action = ?1", {action, now});
    });
  }
  return found;
}

Status ResultIndex::Remove(const std::string& action) {
  return database_.Write(
      [&](Connection& to) { return to.Run("DELETE FROM results WHERE action = ?1", {action}); });
}

}  // namespace octavo::server
