// SPDX-License-Identifier: Apache-2.0
// octavod's settings and the source of each: flag, environment variable, file or default, in this
// order of precedence.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "server/session/limits.h"

namespace octavo::server {

struct Config {
  std::string listen = "127.0.0.1:50051";
  std::string metrics = "127.0.0.1:9464";
  std::string port_file = {};
  std::string log_level = "info";
  bool reflection = true;
  uint64_t max_connections = 0;              // 0: half of the limit of open files
  uint64_t max_connections_per_address = 0;  // 0: half of max_connections
  Limits limits = {};
  std::chrono::milliseconds shutdown_wait = std::chrono::milliseconds(500);
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(60);
  std::string isolation = "process";  // every job in a worker of its own; or thread
  std::string worker = {};            // path of octavo-worker; empty: next to octavod
  uint64_t require_sandbox = 1;       // least level of isolation, 1 to 3
  uint64_t job_memory = 2ull << 30;
  std::chrono::milliseconds job_cpu = std::chrono::hours(1);

  // Flags that are not settings.
  bool print_config = false;
  bool help = false;
  bool version = false;
  // Setting name -> "flag", "environment", "file" or "default".
  std::map<std::string, std::string> sources = {};
};

using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

// Merges all sources into one configuration.  `args` excludes the program's name.  Fails with
// kUsage; the error names the flag, the variable or the key.
Result<Config> LoadConfig(const std::vector<std::string>& args, const GetEnv& environment);

// Prints one line per setting: name, value, source.
std::string PrintConfig(const Config& config);
std::string ConfigHelp();

}  // namespace octavo::server
