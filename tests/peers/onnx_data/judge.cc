// SPDX-License-Identifier: Apache-2.0
// Runs ONNX's own test data through Octavo and prints a table by operator.
//
//   onnx_data_judge [--unsupported FILE] [--data DIR] [--only PART] [--jobs N] [--here]
//
// Exit code 0: every case gives its expected results, or is listed as unsupported and refused as
// such. 77: the data is not installed.  --only selects cases whose name or operator contains PART;
// --here runs them in this process, for a debugger.
#include <cstdio>
#include <deque>
#include <filesystem>

#include "tests/peers/onnx_data/table.h"

namespace octavo::onnx_data {
namespace {

constexpr int kSkipped = 77;
constexpr int kSeconds = 60;

struct Settings {
  std::string data = "/usr/share/libonnx-testdata/data";
  std::string unsupported = {};
  std::string only = {};
  size_t jobs = 2;
  bool here = false;
};

bool ParseArguments(int count, char** arguments, Settings& settings) {
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--here") {
      settings.here = true;
      continue;
    }
    if (++i >= count) return false;
    const std::string value = arguments[i];
    if (name == "--data") {
      settings.data = value;
    } else if (name == "--unsupported") {
      settings.unsupported = value;
    } else if (name == "--only") {
      settings.only = value;
    } else if (name == "--jobs") {
      settings.jobs = std::max<size_t>(1, std::stoul(value));
    } else {
      return false;
    }
  }
  return true;
}

void RunInProcesses(const std::vector<Case>& cases, size_t jobs, Table& table) {
  std::deque<std::pair<const Case*, Trial>> running;
  const auto finish = [&] {
    table.Add(*running.front().first, running.front().second.Finish());
    running.pop_front();
  };
  for (const Case& entry : cases) {
    if (running.size() == jobs) finish();
    std::fflush(stdout);
    running.emplace_back(&entry, Trial(entry, kSeconds));
  }
  while (!running.empty()) finish();
}

int Main(const Settings& settings) {
  if (!std::filesystem::exists(settings.data)) {
    fmt::print("'{}' is not there (package libonnx-testdata)\n", settings.data);
    return kSkipped;
  }
  Result<std::map<std::string, std::string>> unsupported;
  if (!settings.unsupported.empty()) unsupported = ReadUnsupported(settings.unsupported);
  auto cases = ListCases(settings.data);
  if (!unsupported || !cases) {
    fmt::print(stderr, "{}\n", (unsupported ? cases.error() : unsupported.error()).message);
    return 2;
  }
  std::erase_if(*cases, [&](const Case& entry) {
    return entry.name.find(settings.only) == std::string::npos &&
           entry.label.find(settings.only) == std::string::npos;
  });
  Table table(std::move(*unsupported));
  if (settings.here) {
    for (const Case& entry : *cases) table.Add(entry, Try(entry));
  } else {
    RunInProcesses(*cases, settings.jobs, table);
  }
  return table.Print(settings.only.empty()) && !cases->empty() ? 0 : 1;
}

}  // namespace
}  // namespace octavo::onnx_data

int main(int count, char** arguments) {
  octavo::onnx_data::Settings settings;
  if (!octavo::onnx_data::ParseArguments(count, arguments, settings)) {
    fmt::print(stderr,
               "usage: onnx_data_judge [--unsupported FILE] [--data DIR] [--only PART] [--jobs N] "
               "[--here]\n");
    return 2;
  }
  return octavo::onnx_data::Main(settings);
}
