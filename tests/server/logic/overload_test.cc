// SPDX-License-Identifier: Apache-2.0
// More jobs than the service can run: who is refused, who waits, and what is still done.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/server/logic/fake_transport.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// One call with its own model, so that no two share a run.
struct Call {
  Call(Fixture& fixture, const std::string& client, int number)
      : model("model " + std::to_string(number)) {
    fixture.Open(transport, client);
    transport.session->SpecArrived(Fixture::SpecOf(model));
    transport.session->ChunkArrived(0, 0, model);
  }
  CallStatus End() { return transport.WaitForEnd(); }

  std::string model;
  FakeTransport transport;
};

double Seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// How many jobs of `job` each end in a second when none has to wait for the next.
double CapacityOf(const Limits& limits, milliseconds job) {
  Fixture fixture(limits);
  fixture.runner.OnStart([job] { std::this_thread::sleep_for(job); });
  const auto begin = Clock::now();
  int done = 0;
  std::deque<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 40; ++i) {
    // The queue never empties, and a client's share of it is never full.
    while (calls.size() >= 8) {
      if (!calls.front()->End().error) ++done;
      calls.pop_front();
    }
    calls.push_back(std::make_unique<Call>(fixture, "client " + std::to_string(i % 4), i));
  }
  for (const auto& call : calls) {
    if (!call->End().error) ++done;
  }
  EXPECT_EQ(done, 40);
  return done / Seconds(Clock::now() - begin);
}

TEST(Overload, OfTenTimesTheCapacityEndsEachJobInSuccessOrARefusalForNow) {
  const Limits limits{.jobs_queued = 16, .workers = 2};
  static constexpr auto kJob = milliseconds(20);
  const double capacity = CapacityOf(limits, kJob);

  Fixture fixture(limits);
  fixture.runner.OnStart([] { std::this_thread::sleep_for(kJob); });
  std::vector<std::unique_ptr<Call>> calls;
  const auto begin = Clock::now();
  const auto pause = std::chrono::duration<double>(1 / (10 * capacity));
  while (Clock::now() - begin < milliseconds(1500)) {
    const int number = static_cast<int>(calls.size());
    calls.push_back(
        std::make_unique<Call>(fixture, "client " + std::to_string(number % 7), number));
    std::this_thread::sleep_until(begin + number * pause);
  }
  int succeeded = 0;
  int refused = 0;
  for (const auto& call : calls) {
    const CallStatus status = call->End();
    if (!status.error) {
      ++succeeded;
      continue;
    }
    ++refused;
    EXPECT_EQ(status.error->reason, "OVERLOADED") << status.error->message;
    EXPECT_TRUE(status.retry_after);
  }
  const double goodput = succeeded / Seconds(Clock::now() - begin);
  std::printf("capacity %.0f jobs/s, goodput %.0f, %d refused of %zu\n", capacity, goodput, refused,
              calls.size());
  EXPECT_GT(refused, succeeded);
  EXPECT_GT(goodput, 0.8 * capacity);
}

TEST(Overload, NinetyOfAHundredRefusedClientsGetInAtTheirNextTry) {
  Fixture fixture({.jobs_queued = 6, .workers = 2});
  fixture.runner.OnStart([] { std::this_thread::sleep_for(milliseconds(15)); });
  int number = 0;
  for (; number < 10; ++number) {  // the service learns how long its jobs take
    EXPECT_FALSE(Call(fixture, "first", number).End().error);
  }
  fixture.runner.Hold();
  std::vector<std::unique_ptr<Call>> calls;
  for (; number < 18; ++number) {
    calls.push_back(std::make_unique<Call>(fixture, std::to_string(number), number));
  }
  while (fixture.scheduler.Now().waiting < 6) std::this_thread::sleep_for(milliseconds(1));

  // A hundred clients at ten addresses, as of farms behind their gateways, each with the client's
  // own jitter.
  struct Refused {
    Clock::duration pause;
    std::string address;
  };
  std::vector<Refused> refused;
  std::minstd_rand random(7);
  std::uniform_real_distribution<> jitter(1, 1.5);
  for (int client = 0; client < 100; ++client) {
    const std::string address = "address " + std::to_string(client % 10);
    const CallStatus status = Call(fixture, address, number++).End();
    ASSERT_TRUE(status.error && status.retry_after);
    const auto pause = std::chrono::duration<double, std::milli>(*status.retry_after);
    refused.push_back(
        {std::chrono::duration_cast<Clock::duration>(pause * jitter(random)), address});
  }
  std::ranges::sort(refused, {}, &Refused::pause);
  fixture.runner.Open();
  const auto begin = Clock::now();
  for (const Refused& client : refused) {
    std::this_thread::sleep_until(begin + client.pause);
    calls.push_back(std::make_unique<Call>(fixture, client.address, number++));
  }
  int admitted = -8;  // those that filled the queue
  for (const auto& call : calls) admitted += call->End().error ? 0 : 1;
  std::printf("%d of 100 got in\n", admitted);
  EXPECT_GE(admitted, 90);
}

}  // namespace
}  // namespace octavo::server
