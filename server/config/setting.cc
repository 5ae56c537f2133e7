// SPDX-License-Identifier: Apache-2.0
#include "server/config/setting.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace octavo::server {
namespace {

using Milliseconds = std::chrono::milliseconds;

template <class... Args>
Failure Wrong(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kUsage, format, std::forward<Args>(args)...);
}

Result<uint64_t> ParseCount(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Wrong("'{}' must be a whole number", text);
  }
  return value;
}

// Parses "4194304", "512KiB", "4MiB", "2GiB".
Result<uint64_t> ParseBytes(const std::string& text) {
  static constexpr std::pair<std::string_view, int> kUnits[] = {
      {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  for (const auto& [unit, shift] : kUnits) {
    if (!text.ends_with(unit)) continue;
    OCTAVO_TRY(const uint64_t count, ParseCount(text.substr(0, text.size() - unit.size())));
    if (count > (UINT64_MAX >> shift)) return Wrong("'{}' is too large", text);
    return count << shift;
  }
  return ParseCount(text);
}

Result<Milliseconds> ParseSeconds(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value < 0 || value > 1e9) {
    return Wrong("'{}' must be a number of seconds", text);
  }
  return Milliseconds(std::llround(value * 1000));
}

template <auto kMember>
Status SetLimitBytes(Config& config, const std::string& text) {
  OCTAVO_TRY(config.limits.*kMember, ParseBytes(text));
  return {};
}
template <auto kMember>
Status SetLimitCount(Config& config, const std::string& text) {
  OCTAVO_TRY(config.limits.*kMember, ParseCount(text));
  return {};
}
template <auto kMember>
std::string GetLimit(const Config& config) {
  return fmt::format("{}", config.limits.*kMember);
}

template <auto kMember>
Status SetThreads(Config& config, const std::string& text) {
  OCTAVO_TRY(const uint64_t count, ParseCount(text));
  if (count < 1 || count > 1024) return Wrong("'{}' must be from 1 to 1024", text);
  config.limits.*kMember = static_cast<int>(count);
  return {};
}

template <auto kMember>
Status SetLimitSeconds(Config& config, const std::string& text) {
  OCTAVO_TRY(const Milliseconds value, ParseSeconds(text));
  if (value.count() == 0) return Wrong("'{}' must be positive", text);
  config.limits.*kMember = value;
  return {};
}
std::string SecondsText(Milliseconds value) {
  return fmt::format("{}", static_cast<double>(value.count()) / 1000);
}
template <auto kMember>
std::string GetLimitSeconds(const Config& config) {
  return SecondsText(config.limits.*kMember);
}
template <auto kMember>
Status SetSeconds(Config& config, const std::string& text) {
  OCTAVO_TRY(config.*kMember, ParseSeconds(text));
  return {};
}
template <auto kMember>
std::string GetSeconds(const Config& config) {
  return SecondsText(config.*kMember);
}

template <auto kMember>
Status SetCount(Config& config, const std::string& text) {
  OCTAVO_TRY(config.*kMember, ParseCount(text));
  return {};
}
template <auto kMember>
std::string GetCount(const Config& config) {
  return fmt::format("{}", config.*kMember);
}

template <auto kMember>
Status SetText(Config& config, const std::string& text) {
  config.*kMember = text;
  return {};
}
template <auto kMember>
std::string GetText(const Config& config) {
  return config.*kMember;
}

Status SetAddress(std::string& address, const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return Wrong("'{}' must be HOST:PORT", text);
  OCTAVO_TRY(const uint64_t port, ParseCount(text.substr(colon + 1)));
  if (port > 65535) return Wrong("'{}': a port must be at most 65535", text);
  address = text;
  return {};
}
template <auto kMember>
Status SetAddressOf(Config& config, const std::string& text) {
  return SetAddress(config.*kMember, text);
}

Status SetMessageBytes(Config& config, const std::string& text) {
  OCTAVO_TRY(const uint64_t bytes, ParseBytes(text));
  // A chunk of 1 MiB must fit, and gRPC stores the size in an int.
  if (bytes < (2u << 20) || bytes > (1u << 30)) {
    return Wrong("'{}' must be from 2MiB to 1GiB", text);
  }
  config.limits.message_bytes = bytes;
  return {};
}

Status SetIsolation(Config& config, const std::string& text) {
  if (text != "process" && text != "thread") return Wrong("'{}' must be process or thread", text);
  config.isolation = text;
  return {};
}

Status SetRequireSandbox(Config& config, const std::string& text) {
  OCTAVO_TRY(const uint64_t level, ParseCount(text));
  if (level < 1 || level > 3) return Wrong("'{}' must be 1, 2 or 3", text);
  config.require_sandbox = level;
  return {};
}
std::string GetRequireSandbox(const Config& config) {
  return fmt::format("{}", config.require_sandbox);
}

Status SetJobMemory(Config& config, const std::string& text) {
  OCTAVO_TRY(const uint64_t bytes, ParseBytes(text));
  if (bytes < (64u << 20)) return Wrong("'{}' must be at least 64MiB", text);
  config.job_memory = bytes;
  return {};
}
std::string GetJobMemory(const Config& config) { return fmt::format("{}", config.job_memory); }

Status SetJobCpu(Config& config, const std::string& text) {
  OCTAVO_TRY(const Milliseconds time, ParseSeconds(text));
  if (time < std::chrono::seconds(1)) return Wrong("'{}' must be at least 1", text);
  config.job_cpu = time;
  return {};
}

Status SetLogLevel(Config& config, const std::string& text) {
  for (const char* level : {"debug", "info", "warning", "error"}) {
    if (text == level) {
      config.log_level = text;
      return {};
    }
  }
  return Wrong("'{}' must be debug, info, warning or error", text);
}

Status SetReflection(Config& config, const std::string& text) {
  if (text != "on" && text != "off") return Wrong("'{}' must be on or off", text);
  config.reflection = text == "on";
  return {};
}
std::string GetReflection(const Config& config) { return config.reflection ? "on" : "off"; }

Status SetStateDir(Config& config, const std::string& text) {
  config.limits.state_dir = text;
  return {};
}

constexpr std::string_view kAddresses = "Addresses";
constexpr std::string_view kJobs = "Jobs";
constexpr std::string_view kStorage = "Storage";
constexpr std::string_view kLimits = "Limits";
constexpr std::string_view kStopping = "Stopping and log";

constexpr Setting kSettings[] = {
    {kAddresses, "listen", "HOST:PORT", "address of the gRPC services; port 0 chooses a free one",
     &SetAddressOf<&Config::listen>, &GetText<&Config::listen>},
    {kAddresses, "metrics", "HOST:PORT", "address of /metrics, /livez and /readyz",
     &SetAddressOf<&Config::metrics>, &GetText<&Config::metrics>},
    {kAddresses, "port-file", "FILE",
     "write the gRPC address and, on a second line, the metrics address to FILE",
     &SetText<&Config::port_file>, &GetText<&Config::port_file>},
    {kJobs, "workers", "N", "jobs that run at the same time", &SetThreads<&Limits::workers>,
     &GetLimit<&Limits::workers>},
    {kJobs, "job-threads", "N", "maximum threads of one job", &SetThreads<&Limits::job_threads>,
     &GetLimit<&Limits::job_threads>},
    {kStorage, "state-dir", "DIR",
     "folder for uploads, kept results and detached jobs, created if its parent exists; without it "
     "uploads are in memory",
     &SetStateDir, &GetLimit<&Limits::state_dir>},
    {kStorage, "store-bytes", "BYTES", "most that kept results may take in the state folder",
     &SetLimitBytes<&Limits::store_bytes>, &GetLimit<&Limits::store_bytes>},
    {kStorage, "keep-jobs", "SECONDS", "how long jobs are listed after their end, with --state-dir",
     &SetLimitSeconds<&Limits::keep_jobs>, &GetLimitSeconds<&Limits::keep_jobs>},
    {kLimits, "max-message-bytes", "BYTES", "largest gRPC message", &SetMessageBytes,
     &GetLimit<&Limits::message_bytes>},
    {kLimits, "max-model-bytes", "BYTES",
     "largest model, including its external data; at most a third of --max-bytes-reserved",
     &SetLimitBytes<&Limits::model_bytes>, &GetLimit<&Limits::model_bytes>},
    {kLimits, "max-samples-bytes", "BYTES",
     "largest samples and profile of a job; random samples count as if they were sent",
     &SetLimitBytes<&Limits::samples_bytes>, &GetLimit<&Limits::samples_bytes>},
    {kLimits, "max-nodes", "N", "maximum nodes of a model", &SetLimitCount<&Limits::nodes>,
     &GetLimit<&Limits::nodes>},
    {kLimits, "max-value-bytes", "BYTES", "largest tensor that a job may compute",
     &SetLimitBytes<&Limits::value_bytes>, &GetLimit<&Limits::value_bytes>},
    {kLimits, "max-blobs", "N", "maximum blobs of a job", &SetLimitCount<&Limits::blobs>,
     &GetLimit<&Limits::blobs>},
    {kLimits, "max-uploads", "N",
     "jobs whose blobs are being uploaded, at the same time; also of uploads of single blobs",
     &SetLimitCount<&Limits::uploads>, &GetLimit<&Limits::uploads>},
    {kJobs, "max-jobs-queued", "N", "complete jobs that wait, in addition to those that run",
     &SetLimitCount<&Limits::jobs_queued>, &GetLimit<&Limits::jobs_queued>},
    {kLimits, "max-bytes-reserved", "BYTES",
     "bytes of all uploads, and estimated memory of all jobs, together",
     &SetLimitBytes<&Limits::bytes_reserved>, &GetLimit<&Limits::bytes_reserved>,
     "half of the memory of the machine or of its control group"},
    {kLimits, "max-connections", "N",
     "connections at the same time; 0: half of the limit of open files",
     &SetCount<&Config::max_connections>, &GetCount<&Config::max_connections>},
    {kLimits, "max-connections-per-address", "N",
     "connections of one address at the same time; 0: half of --max-connections",
     &SetCount<&Config::max_connections_per_address>,
     &GetCount<&Config::max_connections_per_address>},
    {kJobs, "job-timeout", "SECONDS", "maximum run time of a job",
     &SetLimitSeconds<&Limits::job_timeout>, &GetLimitSeconds<&Limits::job_timeout>},
    {kLimits, "upload-idle-timeout", "SECONDS",
     "end a call whose client neither sends nor reads for this long",
     &SetLimitSeconds<&Limits::upload_idle_timeout>,
     &GetLimitSeconds<&Limits::upload_idle_timeout>},
    {kLimits, "upload-min-rate", "BYTES", "minimum rate of an upload, per second",
     &SetLimitBytes<&Limits::upload_min_rate>, &GetLimit<&Limits::upload_min_rate>},
    {kStopping, "shutdown-wait", "SECONDS",
     "on SIGTERM: time from 'not ready' until jobs are refused",
     &SetSeconds<&Config::shutdown_wait>, &GetSeconds<&Config::shutdown_wait>},
    {kStopping, "drain-timeout", "SECONDS", "on SIGTERM: time that running jobs have to finish",
     &SetSeconds<&Config::drain_timeout>, &GetSeconds<&Config::drain_timeout>},
    {kJobs, "isolation", "MODE",
     "process: run each job in a locked process of its own; thread: in a thread of octavod",
     &SetIsolation, &GetText<&Config::isolation>},
    {kJobs, "worker", "PATH", "the program octavo-worker; by default the one next to octavod",
     &SetText<&Config::worker>, &GetText<&Config::worker>},
    {kJobs, "require-sandbox", "N",
     "with --isolation process: refuse to start below this level, 1 to 3", &SetRequireSandbox,
     &GetRequireSandbox},
    {kJobs, "job-memory", "BYTES",
     "memory of a job, or 1.25 times what its files let expect if that is more; a job whose "
     "estimate "
     "is higher is refused once its model is read",
     &SetJobMemory, &GetJobMemory},
    {kJobs, "job-cpu", "SECONDS", "with --isolation process: processor time of a job", &SetJobCpu,
     &GetSeconds<&Config::job_cpu>},
    {kAddresses, "reflection", "on|off",
     "whether clients may ask for the services and their messages", &SetReflection, &GetReflection},
    {kStopping, "log-level", "LEVEL", "debug, info, warning or error", &SetLogLevel,
     &GetText<&Config::log_level>},
};

}  // namespace

std::span<const Setting> Settings() { return kSettings; }

const Setting* FindSetting(std::string_view name) {
  const auto* row = std::ranges::find(kSettings, name, &Setting::name);
  return row == std::end(kSettings) ? nullptr : row;
}

std::string VariableOf(std::string_view name) {
  std::string variable = fmt::format("OCTAVO_{}", name);
  std::ranges::transform(variable, variable.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return variable;
}

}  // namespace octavo::server
