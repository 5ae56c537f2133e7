// SPDX-License-Identifier: Apache-2.0
// Equal jobs that come while one of them runs.
#include <gtest/gtest.h>

#include "tests/server/logic/fake_transport.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

JobSpec SpecOf(const std::string& model) {
  JobSpec spec = Fixture::SpecOf(model);
  spec.action_digest = "sha256:1";
  return spec;
}

// A call whose job runs, and is held there.
void Begin(Fixture& fixture, FakeTransport& call, const std::string& model = "model") {
  fixture.Open(call);
  call.session->SpecArrived(SpecOf(model));
  ASSERT_TRUE(call.WaitForReads(2));
  call.session->ChunkArrived(0, 0, model);
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  // Accepted and the progress so far, although the job is held.
  ASSERT_TRUE(call.WaitForEvents(2));
}

// A second call of the job, which has been accepted.
void JoinAs(Fixture& fixture, FakeTransport& call,
            std::optional<steady_clock::time_point> deadline = {}) {
  fixture.Open(call, "other", deadline);
  call.session->SpecArrived(SpecOf("model"));
  ASSERT_TRUE(call.WaitForEvents(1));
}

TEST(Flights, equal_jobs_run_once_and_all_get_the_result) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport first;
  Begin(fixture, first);
  FakeTransport second;
  JoinAs(fixture, second);
  EXPECT_TRUE(second.Events<Accepted>().at(0).only_needed);
  EXPECT_TRUE(second.Events<Accepted>().at(0).needed.empty());
  ASSERT_TRUE(second.WaitForEvents(2));
  EXPECT_EQ(second.Events<ProgressEvent>().at(0).stage, "import");
  fixture.runner.Open();
  EXPECT_FALSE(first.WaitForEnd().error);
  EXPECT_FALSE(second.WaitForEnd().error);
  EXPECT_EQ(fixture.runner.started(), 1);
  EXPECT_EQ(first.Events<Finished>().at(0).source, JobSource::kExecuted);
  EXPECT_EQ(second.Events<Finished>().at(0).source, JobSource::kJoined);
  EXPECT_EQ(first.Events<BlobInfo>(), second.Events<BlobInfo>());
  EXPECT_GE(second.Events<ProgressEvent>().size(), 2u);
}

TEST(Flights, a_call_that_uploaded_meanwhile_joins_too) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport late;
  fixture.Open(late, "other");
  late.session->SpecArrived(SpecOf("model"));
  ASSERT_TRUE(late.WaitForReads(2));
  FakeTransport first;
  Begin(fixture, first);
  late.session->ChunkArrived(0, 0, "model");
  ASSERT_TRUE(late.WaitForStage("import"));  // it has joined
  fixture.runner.Open();
  EXPECT_FALSE(first.WaitForEnd().error);
  EXPECT_FALSE(late.WaitForEnd().error);
  EXPECT_EQ(fixture.runner.started(), 1);
  EXPECT_EQ(late.Events<Finished>().at(0).source, JobSource::kJoined);
}

TEST(Flights, the_run_goes_on_when_its_first_call_is_cancelled) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport first;
  Begin(fixture, first);
  FakeTransport second;
  JoinAs(fixture, second);
  first.session->Cancelled();
  EXPECT_EQ(first.WaitForEnd().error->code, Code::kCancelled);
  EXPECT_EQ(fixture.scheduler.Now().running, 1);
  fixture.runner.Open();
  EXPECT_FALSE(second.WaitForEnd().error);
  EXPECT_EQ(fixture.runner.started(), 1);
}

TEST(Flights, each_call_has_its_own_deadline) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport first;
  Begin(fixture, first);
  FakeTransport hasty;
  JoinAs(fixture, hasty, steady_clock::now() + milliseconds(50));
  EXPECT_EQ(hasty.WaitForEnd().error->code, Code::kDeadlineExceeded);
  fixture.runner.Open();
  EXPECT_FALSE(first.WaitForEnd().error);
}

TEST(Flights, the_run_is_cancelled_when_the_last_call_has_left) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport first;
  Begin(fixture, first);
  FakeTransport second;
  JoinAs(fixture, second);
  first.session->Cancelled();
  first.WaitForEnd();
  second.session->Cancelled();
  second.WaitForEnd();
  const auto begin = steady_clock::now();
  while (fixture.scheduler.Now().running > 0) {
    ASSERT_LT(steady_clock::now() - begin, milliseconds(1000));
    std::this_thread::sleep_for(milliseconds(1));
  }
  // A later call does not join what was cancelled.
  fixture.runner.Open();
  FakeTransport third;
  fixture.Open(third);
  third.session->SpecArrived(SpecOf("model"));
  ASSERT_TRUE(third.WaitForReads(2));
  third.session->ChunkArrived(0, 0, "model");
  EXPECT_FALSE(third.WaitForEnd().error);
  EXPECT_EQ(fixture.runner.started(), 2);
}

TEST(Flights, a_failure_reaches_all_who_wait) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport first;
  Begin(fixture, first, "broken");
  FakeTransport second;
  JoinAs(fixture, second);
  fixture.runner.Open();
  EXPECT_EQ(first.WaitForEnd().error->node, "c1");
  EXPECT_EQ(second.WaitForEnd().error->node, "c1");
}

TEST(Flights, a_job_that_must_compute_again_runs_alone) {
  Fixture fixture({.workers = 2});
  fixture.runner.Hold();
  FakeTransport first;
  Begin(fixture, first);
  FakeTransport again;
  fixture.Open(again, "other");
  JobSpec spec = SpecOf("model");
  spec.no_cache = true;
  again.session->SpecArrived(spec);
  ASSERT_TRUE(again.WaitForReads(2));
  again.session->ChunkArrived(0, 0, "model");
  ASSERT_TRUE(fixture.runner.WaitForStarts(2));
  fixture.runner.Open();
  EXPECT_FALSE(first.WaitForEnd().error);
  EXPECT_FALSE(again.WaitForEnd().error);
}

}  // namespace
}  // namespace octavo::server
