// SPDX-License-Identifier: Apache-2.0
// The service's threads: pending work when they end.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "server/pool/event_loop.h"
#include "server/pool/watchdog.h"
#include "server/pool/work_pool.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;

TEST(EventLoop, StopWaitsForTheCallUnderWay) {
  EventLoop loop;
  std::promise<void> begun;
  std::atomic<bool> ended = false;
  loop.After(milliseconds(0), [&] {
    begun.set_value();
    std::this_thread::sleep_for(milliseconds(50));
    ended = true;
  });
  begun.get_future().wait();
  loop.Stop();
  EXPECT_TRUE(ended);
}

TEST(EventLoop, NothingBeginsAfterStop) {
  EventLoop loop;
  loop.Stop();
  std::atomic<bool> called = false;
  EventLoop::Timer timer = loop.After(milliseconds(0), [&] { called = true; });
  timer.Cancel();
  loop.After(milliseconds(0), [&] { called = true; });
  // Stop has joined the loop's thread, so that no other can call later.
  EXPECT_FALSE(called);
}

TEST(Watchdog, TellsThatALoopIsStuckAndThatItRunsAgain) {
  EventLoop loop;
  std::promise<void> stuck;
  std::promise<void> again;
  std::atomic<int> told = 0;
  const Watchdog watchdog(loop, milliseconds(1200), [&](bool is_stuck) {
    ++told;
    (is_stuck ? stuck : again).set_value();
  });
  std::promise<void> release;
  auto until = release.get_future().share();
  loop.After(milliseconds(0), [until] { until.wait(); });
  ASSERT_EQ(stuck.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_TRUE(loop.StuckFor(milliseconds(1200)));
  release.set_value();
  ASSERT_EQ(again.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(told, 2);
}

TEST(WorkPool, ASerialKeepsItsOrderAndThePoolRunsAllBeforeItEnds) {
  std::vector<int> seen;
  {
    WorkPool pool(3);
    const Serial serial = pool.MakeSerial();
    for (int i = 0; i < 1000; ++i) {
      serial.Post([&seen, i] { seen.push_back(i); });
    }
  }
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace octavo::server
