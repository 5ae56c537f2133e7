// SPDX-License-Identifier: Apache-2.0
// Results of jobs to and from the cache.
#pragma once

#include <optional>
#include <string>

#include "server/session/results.h"
#include "server/store/result_cache.h"

namespace octavo::server {

struct KeptResult {
  CacheAnswer answer = CacheAnswer::kMiss;
  std::optional<JobResult> result = {};  // of a hit; its blobs are mapped files
};
KeptResult FindKept(ResultCache& cache, const std::string& action);

// A failure is logged: the job has its result nevertheless.
void KeepResult(ResultCache& cache, const std::string& action, const JobResult& result);

StoredResult StoredOf(const JobResult& result);

// Keeps the result where nothing is kept; kInternal if another result is.  The report of a job that
// is not `deterministic` has the passes' seconds, so it is not compared.
Status CompareOrKeep(ResultCache& cache, const std::string& action, const JobResult& result,
                     bool deterministic);

}  // namespace octavo::server
