// SPDX-License-Identifier: Apache-2.0
#include "server/store/result_index.h"

#include <chrono>
#include <cstdlib>

namespace octavo::server {
namespace {

// How old the time of use of an entry may be; a later Find writes it again.
constexpr int64_t kUsePeriod = 60'000;

// Of a use now: later than all others, whatever the clock says.
constexpr const char* kUsedNow = "MAX(?1, (SELECT IFNULL(MAX(used), 0) + 1 FROM results))";

}  // namespace

int64_t ResultIndex::Milliseconds() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(now_().time_since_epoch()).count();
}

Status ResultIndex::Put(const std::string& action, const StoredResult& result) {
  return database_.Write([&](Connection& to) -> Status {
    OCTAVO_CHECK(to.Run("DELETE FROM results WHERE action = ?1", {action}));
    OCTAVO_CHECK(to.Run(fmt::format("INSERT INTO results VALUES (?2, ?3, ?4, {})", kUsedNow),
                        {Milliseconds(), action, int64_t{result.gate_failed}, result.message}));
    for (size_t i = 0; i < result.blobs.size(); ++i) {
      const ResultBlob& blob = result.blobs[i];
      OCTAVO_CHECK(to.Run("INSERT INTO result_blobs VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                          {action, static_cast<int64_t>(i), int64_t{blob.role}, blob.name,
                           static_cast<int64_t>(blob.digest.size_bytes), blob.digest.sha256}));
    }
    return to.Run(
        "DELETE FROM results WHERE action IN (SELECT action FROM results"
        " ORDER BY used, action LIMIT (SELECT MAX(0, results - ?1) FROM totals))",
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
  if (found && std::abs(now - used) > kUsePeriod) {
    database_.WriteLater([action, now](Connection& to) {
      return to.Run(fmt::format("UPDATE results SET used = {} WHERE action = ?2", kUsedNow),
                    {now, action});
    });
  }
  return found;
}

Status ResultIndex::Remove(const std::string& action) {
  return database_.Write(
      [&](Connection& to) { return to.Run("DELETE FROM results WHERE action = ?1", {action}); });
}

}  // namespace octavo::server
