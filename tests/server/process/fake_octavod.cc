// SPDX-License-Identifier: Apache-2.0
// octavod with a fake job, for tests of the process.  OCTAVO_TEST_HOLD makes jobs wait for their
// stop token; OCTAVO_TEST_SLEEP makes them take so many milliseconds, deaf to it.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "server/daemon/run.h"
#include "tests/server/logic/fake_runner.h"

int main(int argc, char** argv) {
  octavo::server::FakeRunner runner;
  if (std::getenv("OCTAVO_TEST_HOLD") != nullptr) runner.Hold();
  if (const char* sleep = std::getenv("OCTAVO_TEST_SLEEP"); sleep != nullptr) {
    runner.OnStart([pause = std::chrono::milliseconds(std::atoi(sleep))] {
      std::this_thread::sleep_for(pause);
    });
  }
  return octavo::server::RunOctavod(
      argc, argv, {.version = "0.1.0-test"},
      [&](const octavo::server::Config&, octavo::server::worker::WorkerProbe&) {
        return octavo::Result<octavo::server::JobRunner>(runner.AsRunner());
      });
}
