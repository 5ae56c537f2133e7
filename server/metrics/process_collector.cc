// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/process_collector.h"

#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace octavo::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily Gauge(const char* name, const char* help, double value) {
  ClientMetric metric;
  metric.gauge.value = value;
  return {name, help, MetricType::Gauge, {metric}};
}

MetricFamily Counter(const char* name, const char* help, double value) {
  ClientMetric metric;
  metric.counter.value = value;
  return {name, help, MetricType::Counter, {metric}};
}

// Fields of /proc/self/stat, numbered from 1 as in proc(5).  The name in parentheses may contain
// blanks, so parsing starts at its closing parenthesis.
struct Stat {
  double user_ticks = 0;      // 14
  double system_ticks = 0;    // 15
  double threads = 0;         // 20
  double start_ticks = 0;     // 22, after boot
  double virtual_bytes = 0;   // 23
  double resident_pages = 0;  // 24
};

Stat ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(line.substr(end_of_name + 1));
  std::string word;
  Stat stat;
  for (int field = 3; rest >> word; ++field) {
    if (field == 14) stat.user_ticks = std::stod(word);
    if (field == 15) stat.system_ticks = std::stod(word);
    if (field == 20) stat.threads = std::stod(word);
    if (field == 22) stat.start_ticks = std::stod(word);
    if (field == 23) stat.virtual_bytes = std::stod(word);
    if (field == 24) stat.resident_pages = std::stod(word);
  }
  return stat;
}

double BootTime() {
  std::ifstream file("/proc/stat");
  std::string key;
  double value = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    if (words >> key >> value && key == "btime") return value;
  }
  return 0;
}

double OpenDescriptors() {
  std::error_code error;
  std::filesystem::directory_iterator folder("/proc/self/fd", error);
  if (error) return 0;
  double count = 0;
  for ([[maybe_unused]] const auto& entry : folder) ++count;
  return count - 1;  // minus the descriptor that lists them
}

}  // namespace

std::vector<MetricFamily> ProcessCollector::Collect() const {
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const Stat stat = ReadStat();
  rlimit descriptors = {};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  return {
      Counter("process_cpu_seconds_total", "User and system time of the process.",
              (stat.user_ticks + stat.system_ticks) / ticks),
      Gauge("process_resident_memory_bytes", "Memory of the process in RAM.",
            stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE))),
      Gauge("process_virtual_memory_bytes", "Address space of the process.", stat.virtual_bytes),
      Gauge("process_start_time_seconds", "When the process started, since the epoch.",
            BootTime() + stat.start_ticks / ticks),
      Gauge("process_threads", "Threads of the process.", stat.threads),
      Gauge("process_open_fds", "Open file descriptors.", OpenDescriptors()),
      Gauge("process_max_fds", "Most file descriptors that may be open.",
            static_cast<double>(descriptors.rlim_cur)),
  };
}

}  // namespace octavo::server
