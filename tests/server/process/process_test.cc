// SPDX-License-Identifier: Apache-2.0
// octavod as a process: exit codes, port file, log, and signals.
#include <nlohmann/json.hpp>

#include "tests/server/process/process.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;

TEST_F(Process, SigtermEndsAnIdleServerWith0AndItsLogIsJson) {
  Serve();
  EXPECT_TRUE(Run("model"));
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
  std::istringstream log(Text("err"));
  std::vector<std::string> events;
  for (std::string line; std::getline(log, line);) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(entry.is_object()) << line;
    events.push_back(entry["event"]);
  }
  EXPECT_EQ(events, (std::vector<std::string>{"serving", "job admitted", "job ended", "draining",
                                              "stopped"}));
}

TEST_F(Process, SigtermGivesARunningJobItsDrainTimeout) {
  Serve({"--drain-timeout", "0.3"}, "OCTAVO_TEST_HOLD=1");
  Result<job::Outcome> outcome;
  std::thread caller([&] { outcome = Run("model"); });
  while (!JobRuns()) std::this_thread::sleep_for(milliseconds(5));
  const auto begin = std::chrono::steady_clock::now();
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(300));
  caller.join();
  EXPECT_FALSE(outcome);
}

TEST_F(Process, ASecondSigtermStopsAtOnce) {
  Serve({"--drain-timeout", "60"}, "OCTAVO_TEST_HOLD=1");
  Result<job::Outcome> outcome;
  std::thread caller([&] { outcome = Run("model"); });
  while (!JobRuns()) std::this_thread::sleep_for(milliseconds(5));
  kill(pid_, SIGTERM);
  // The log says that the first signal was heard.
  while (Text("err").find("\"draining\"") == std::string::npos) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  const auto begin = std::chrono::steady_clock::now();
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 143);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  caller.join();
  EXPECT_FALSE(outcome);
}

// The loop, which hears the first signal, has ended, and the end waits for a job that hears
// nothing.
TEST_F(Process, ASecondSigtermIsHeardToTheEnd) {
  Serve({"--drain-timeout", "0.1"}, "OCTAVO_TEST_SLEEP=30000");
  std::thread caller([&] { EXPECT_FALSE(Run("model")); });
  while (!JobRuns()) std::this_thread::sleep_for(milliseconds(5));
  kill(pid_, SIGTERM);
  while (Text("err").find("\"stopped\"") == std::string::npos) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  std::this_thread::sleep_for(milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 143);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  caller.join();
}

TEST_F(Process, AWrongFlagIsExit2WithOneLine) {
  Start({"--workers", "many"});
  EXPECT_EQ(Wait(), 2);
  EXPECT_EQ(Text("err"), "octavod: error: --workers: 'many' must be a whole number\n");
}

TEST_F(Process, PrintConfigServesNothing) {
  Start({"--print-config", "--listen", "127.0.0.1:7"}, "OCTAVO_WORKERS=3");
  EXPECT_EQ(Wait(), 0);
  EXPECT_NE(Text("out").find("workers              3                        environment"),
            std::string::npos)
      << Text("out");
}

}  // namespace
}  // namespace octavo::server
