// SPDX-License-Identifier: Apache-2.0
// Limits per job and over all jobs.  Each has a flag of the same name.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace octavo::server {

// Bytes that any job needs to run, in addition to twice its model.
inline constexpr uint64_t kWorkingBytes = 64ull << 20;

struct Limits {
  uint64_t message_bytes = 4ull << 20;
  uint64_t model_bytes = 4ull << 30;    // model and external data together
  uint64_t samples_bytes = 1ull << 30;  // samples and profile together
  uint64_t nodes = 200'000;
  uint64_t value_bytes = 1ull << 30;  // per value that a job computes
  uint64_t blobs = 4096;
  uint64_t uploads = 256;                // at the same time
  uint64_t jobs_queued = 32;             // complete jobs beyond those that run
  uint64_t bytes_reserved = 8ull << 30;  // of uploads, and estimated of jobs, together
  int workers = 1;
  int job_threads = 1;  // maximum per job
  std::chrono::milliseconds job_timeout = std::chrono::hours(1);
  std::chrono::milliseconds upload_idle_timeout = std::chrono::seconds(30);
  uint64_t upload_min_rate = 1024;  // bytes per second
  std::string state_dir = {};       // folder for uploads and results; empty: neither is kept
  std::chrono::milliseconds keep_jobs = std::chrono::hours(24);  // after their end
  uint64_t store_bytes = 20ull << 30;                            // of the results in state_dir
};

// The largest model whose job fits into a budget of `bytes_reserved`; see EstimateFootprint.
constexpr uint64_t LargestModel(uint64_t bytes_reserved) {
  return bytes_reserved > kWorkingBytes ? (bytes_reserved - kWorkingBytes) / 3 : 0;
}

}  // namespace octavo::server
