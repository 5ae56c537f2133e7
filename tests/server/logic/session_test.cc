// SPDX-License-Identifier: Apache-2.0
// One call from its spec to its last byte, and every way in which it may end early.
#include "server/session/session.h"

#include <gtest/gtest.h>

#include "tests/server/logic/fake_transport.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(Session, AWholeJobGivesAcceptedThenResultsThenFinished) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  fixture.Send(transport, "model");
  EXPECT_FALSE(transport.WaitForEnd().error);
  ASSERT_EQ(transport.Events<Accepted>().size(), 1u);
  EXPECT_EQ(transport.Events<Accepted>()[0].job_id.size(), 32u);
  const auto results = transport.Events<BlobInfo>();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].role, Role::kOptimizedModel);
  EXPECT_EQ(results[0].sha256, Sha256Of("ledom"));
  EXPECT_EQ(results[1].role, Role::kReport);
  EXPECT_EQ(transport.Events<ChunkEvent>()[0].bytes.text(), "ledom");
  EXPECT_EQ(transport.Events<Finished>().size(), 1u);
  EXPECT_EQ(fixture.probe.outcomes(JobOutcome::kSucceeded), 1);
  EXPECT_EQ(fixture.probe.uploaded, 5u);
}

TEST(Session, ResultsTravelInChunksOfOneMebibyte) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  const std::string model(2'500'000, 'x');
  fixture.Send(transport, model);
  EXPECT_FALSE(transport.WaitForEnd().error);
  const auto chunks = transport.Events<ChunkEvent>();
  ASSERT_EQ(chunks.size(), 4u);  // three chunks of the model, one of the report
  EXPECT_EQ(chunks[1].offset, 1u << 20);
  EXPECT_EQ(chunks[2].bytes.size(), 2'500'000u - (2u << 20));
  EXPECT_EQ(chunks[3].blob, 1u);
}

TEST(Session, ABrokenModelIsTheJobsErrorWithItsNode) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  fixture.Send(transport, "broken");
  const CallStatus status = transport.WaitForEnd();
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->code, Code::kInvalidArgument);
  EXPECT_EQ(status.error->node, "c1");
  EXPECT_EQ(fixture.probe.outcomes(JobOutcome::kInvalid), 1);
}

TEST(Session, ACrashIsAnOutcomeOfItsOwn) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  fixture.Send(transport, "crash");
  const CallStatus status = transport.WaitForEnd();
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->reason, "WORKER_CRASHED");
  EXPECT_EQ(fixture.probe.outcomes(JobOutcome::kCrashed), 1);
  EXPECT_EQ(fixture.probe.outcomes(JobOutcome::kFailed), 0);
}

struct WrongChunk {
  uint32_t blob;
  uint64_t offset;
  std::string bytes;
  std::string field;
  std::string says;
};

TEST(Session, AChunkThatDoesNotFitIsRefusedByName) {
  const WrongChunk cases[] = {
      {0, 3, "abc", "chunk.offset", "spec.blobs[0]: a chunk has offset 3; the next byte is 0"},
      {1, 0, "abc", "chunk.blob", "blob 1 is not one of the 1 in the spec"},
      {0, 0, "", "chunk.data", "a chunk without bytes"},
      {0, 0, "abcdefg", "chunk.data",
       "spec.blobs[0]: a chunk of 7 bytes at offset 0 exceeds the declared size of 5"},
  };
  for (const WrongChunk& wrong : cases) {
    Fixture fixture;
    FakeTransport transport;
    fixture.Open(transport);
    transport.session->SpecArrived(Fixture::SpecOf("model"));
    ASSERT_TRUE(transport.WaitForReads(2));
    transport.session->ChunkArrived(wrong.blob, wrong.offset, wrong.bytes);
    const CallStatus status = transport.WaitForEnd();
    ASSERT_TRUE(status.error);
    EXPECT_EQ(status.error->code, Code::kInvalidArgument);
    EXPECT_EQ(status.error->field, wrong.field);
    EXPECT_EQ(status.error->message, wrong.says);
    EXPECT_EQ(fixture.runner.started(), 0);
  }
}

TEST(Session, AWrongDigestIsRefusedBeforeTheJobStarts) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  transport.session->SpecArrived(Fixture::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->ChunkArrived(0, 0, "modem");
  const CallStatus status = transport.WaitForEnd();
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->reason, "DIGEST_MISMATCH");
  EXPECT_EQ(status.error->field, "spec.blobs[0].sha256");
  EXPECT_EQ(fixture.runner.started(), 0);
}

TEST(Session, AWrongDigestOfNoBytesEndsTheCallOnce) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  JobSpec spec = Fixture::SpecOf("");
  spec.blobs[0].sha256 = Sha256Of("model");
  transport.session->SpecArrived(spec);
  const CallStatus status = transport.WaitForEnd();
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->reason, "DIGEST_MISMATCH");
  EXPECT_EQ(fixture.runner.started(), 0);
  EXPECT_EQ(fixture.probe.outcomes(JobOutcome::kInvalid), 1);
}

TEST(Session, AChunkBeforeTheSpecIsRefused) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  transport.session->ChunkArrived(0, 0, "x");
  EXPECT_EQ(transport.WaitForEnd().error->message, "a chunk precedes the spec");
}

TEST(Session, ASecondSpecIsRefused) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  transport.session->SpecArrived(Fixture::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->SpecArrived(Fixture::SpecOf("model"));
  EXPECT_EQ(transport.WaitForEnd().error->field, "spec");
}

TEST(Session, AnUploadThatEndsEarlySaysHowFarItCame) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  transport.session->SpecArrived(Fixture::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->ChunkArrived(0, 0, "mod");
  ASSERT_TRUE(transport.WaitForReads(3));
  transport.session->InputEnded();
  const CallStatus status = transport.WaitForEnd();
  EXPECT_EQ(status.error->message, "spec.blobs[0]: the stream ended after 3 of 5 bytes");
  EXPECT_EQ(status.error->reason, "INCOMPLETE_UPLOAD");
}

TEST(Session, ABrokenCallIsACancelledJobThoughItsInputEndsFirst) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  transport.session->SpecArrived(Fixture::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->InputEnded();
  transport.session->Cancelled();
  EXPECT_EQ(transport.WaitForEnd().error->code, Code::kCancelled);
  EXPECT_EQ(fixture.probe.outcomes(JobOutcome::kCancelled), 1);
}

TEST(Session, CancelledWhileQueuedNeverStarts) {
  Fixture fixture({.workers = 1});
  fixture.runner.Hold();
  FakeTransport first;
  FakeTransport second;
  fixture.Open(first);
  fixture.Send(first, "first");
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  fixture.Open(second);
  fixture.Send(second, "second");
  ASSERT_TRUE(second.WaitForReads(3));
  EXPECT_EQ(second.Events<Accepted>()[0].queue_position, 1u);
  second.session->Cancelled();
  EXPECT_EQ(second.WaitForEnd().error->code, Code::kCancelled);
  fixture.runner.Open();
  EXPECT_FALSE(first.WaitForEnd().error);
  EXPECT_EQ(fixture.runner.started(), 1);
}

TEST(Session, AClientsJobOfHigherPriorityRunsFirst) {
  Fixture fixture({.workers = 1});
  fixture.runner.Hold();
  FakeTransport first, low, high;
  const auto send = [&](FakeTransport& transport, const std::string& model, int priority) {
    fixture.Open(transport);
    JobSpec spec = Fixture::SpecOf(model);
    spec.priority = priority;
    transport.session->SpecArrived(spec);
    ASSERT_TRUE(transport.WaitForReads(2));
    transport.session->ChunkArrived(0, 0, model);
    ASSERT_TRUE(transport.WaitForReads(3));
  };
  send(first, "first", 0);
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  send(low, "low", 0);
  send(high, "high", 1);
  const auto runs = [](FakeTransport& transport) {
    const auto events = transport.Events<ProgressEvent>();
    return !events.empty() && events.back().stage == "import";
  };
  while (fixture.scheduler.Now().waiting < 2) std::this_thread::sleep_for(milliseconds(1));
  first.session->Cancelled();
  ASSERT_TRUE(fixture.runner.WaitForStarts(2));
  while (!runs(low) && !runs(high)) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(runs(high));
  EXPECT_FALSE(runs(low));
  fixture.runner.Open();
  EXPECT_TRUE(first.WaitForEnd().error);
  EXPECT_FALSE(high.WaitForEnd().error);
  EXPECT_FALSE(low.WaitForEnd().error);
}

TEST(Session, CancellingStopsARunningJobWithin100Milliseconds) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport transport;
  fixture.Open(transport);
  fixture.Send(transport, "model");
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  const auto begin = steady_clock::now();
  transport.session->Cancelled();
  EXPECT_EQ(transport.WaitForEnd().error->code, Code::kCancelled);
  while (fixture.scheduler.Now().running > 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(100));
  EXPECT_TRUE(fixture.probe.WaitForCancels(1));
}

TEST(JobOutcome, TellsTheClientsFaultsFromTheServices) {
  struct Case {
    Code code;
    const char* reason;
    JobOutcome outcome;
  };
  for (const Case& each : {Case{Code::kInvalidArgument, "INVALID_MODEL", JobOutcome::kInvalid},
                           Case{Code::kUsage, "USAGE", JobOutcome::kInvalid},
                           Case{Code::kUnimplemented, "FLOAT_NODE", JobOutcome::kInvalid},
                           Case{Code::kTooLarge, "TOO_LARGE", JobOutcome::kInvalid},
                           Case{Code::kTooLarge, "POISONED", JobOutcome::kInvalid},
                           Case{Code::kTooLarge, "JOB_MEMORY", JobOutcome::kFailed},
                           Case{Code::kResourceExhausted, "STORAGE", JobOutcome::kFailed},
                           Case{Code::kInternal, "INTERNAL", JobOutcome::kFailed},
                           Case{Code::kAborted, "WORKER_CRASHED", JobOutcome::kCrashed},
                           Case{Code::kCancelled, "CANCELLED", JobOutcome::kCancelled},
                           Case{Code::kDeadlineExceeded, "JOB_TIMEOUT", JobOutcome::kDeadline}}) {
    Error error;
    error.code = each.code;
    error.reason = each.reason;
    EXPECT_EQ(OutcomeOf(error), each.outcome) << each.reason;
    EXPECT_FALSE(IsRefusal(error)) << each.reason;
  }
  EXPECT_EQ(OutcomeOf(std::nullopt), JobOutcome::kSucceeded);
}

TEST(Session, AnUploadThatADrainEndsIsRejectedAndNoFailure) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  transport.session->SpecArrived(Fixture::SpecOf("model"));
  ASSERT_TRUE(transport.WaitForReads(2));
  fixture.scheduler.Drain();
  EXPECT_EQ(transport.WaitForEnd().error->reason, "DRAINING");
  EXPECT_EQ(fixture.probe.rejections(RejectReason::kDraining), 1);
  for (const JobOutcome outcome : kJobOutcomes) EXPECT_EQ(fixture.probe.outcomes(outcome), 0);
}

TEST(Session, TheClientsDeadlineEndsARunningJob) {
  Fixture fixture;
  fixture.runner.Hold();
  FakeTransport transport;
  fixture.Open(transport, "c", steady_clock::now() + milliseconds(150));
  fixture.Send(transport, "model");
  const CallStatus status = transport.WaitForEnd();
  EXPECT_EQ(status.error->code, Code::kDeadlineExceeded);
  EXPECT_EQ(status.error->reason, "CLIENT_DEADLINE");
  while (fixture.scheduler.Now().running > 0) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Session, TheServicesJobTimeoutEndsARunningJob) {
  Fixture fixture({.job_timeout = milliseconds(50)});
  fixture.runner.Hold();
  FakeTransport transport;
  fixture.Open(transport);
  fixture.Send(transport, "model");
  const CallStatus status = transport.WaitForEnd();
  EXPECT_EQ(status.error->code, Code::kDeadlineExceeded);
  EXPECT_EQ(status.error->reason, "JOB_TIMEOUT");
}

TEST(Session, AnIdleUploadIsCutAndGivesItsPlaceBack) {
  Fixture fixture({.uploads = 1, .upload_idle_timeout = milliseconds(60)});
  FakeTransport transport;
  fixture.Open(transport);
  transport.session->SpecArrived(Fixture::SpecOf("model"));
  const CallStatus status = transport.WaitForEnd();
  EXPECT_EQ(status.error->reason, "UPLOAD_IDLE");
  FakeTransport next;
  fixture.Open(next);
  fixture.Send(next, "model");
  EXPECT_FALSE(next.WaitForEnd().error);
}

TEST(Session, ASlowUploadLetsOthersWork) {
  Fixture fixture({.jobs_queued = 0, .workers = 1});
  FakeTransport slow;
  fixture.Open(slow);
  slow.session->SpecArrived(Fixture::SpecOf("a model that comes slowly"));
  ASSERT_TRUE(slow.WaitForReads(2));
  slow.session->ChunkArrived(0, 0, "a");
  ASSERT_TRUE(slow.WaitForReads(3));
  FakeTransport quick;
  fixture.Open(quick, "other");
  fixture.Send(quick, "model");
  EXPECT_FALSE(quick.WaitForEnd().error);
  slow.session->Cancelled();
  slow.WaitForEnd();
}

TEST(Session, AQueueThatFilledDuringTheUploadRefusesWithATimeToRetry) {
  Fixture fixture({.jobs_queued = 0, .workers = 1});
  fixture.runner.Hold();
  FakeTransport slow;
  fixture.Open(slow);
  slow.session->SpecArrived(Fixture::SpecOf("slow"));
  ASSERT_TRUE(slow.WaitForReads(2));
  FakeTransport quick;
  fixture.Open(quick, "other");
  fixture.Send(quick, "model");
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  slow.session->ChunkArrived(0, 0, "slow");
  const CallStatus status = slow.WaitForEnd();
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->code, Code::kResourceExhausted);
  EXPECT_TRUE(status.retry_after);
  fixture.runner.Open();
  EXPECT_FALSE(quick.WaitForEnd().error);
}

TEST(Session, AClientThatNeverReadsIsCut) {
  Fixture fixture({.upload_idle_timeout = milliseconds(60), .upload_min_rate = 0});
  FakeTransport transport;
  transport.HoldWrites();
  fixture.Open(transport);
  fixture.Send(transport, "model");
  const CallStatus status = transport.WaitForEnd();
  EXPECT_EQ(status.error->reason, "DOWNLOAD_IDLE");
  EXPECT_TRUE(transport.aborted());
  EXPECT_EQ(transport.Events<Accepted>().size(), 1u);
}

TEST(Session, ASlowReaderGetsOnlyTheLatestProgress) {
  Fixture fixture;
  fixture.runner.set_progress_reports(10'000);
  FakeTransport transport;
  transport.HoldWrites();
  fixture.Open(transport);
  fixture.Send(transport, "model");
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  while (fixture.scheduler.Now().running > 0) std::this_thread::sleep_for(milliseconds(1));
  transport.Release();
  EXPECT_FALSE(transport.WaitForEnd().error);
  EXPECT_LE(transport.Events<ProgressEvent>().size(), 2u);
}

TEST(Session, AGateThatFailedStillDeliversTheModel) {
  Fixture fixture;
  FakeTransport transport;
  fixture.Open(transport);
  JobSpec spec = Fixture::SpecOf("model");
  spec.options.require_sqnr = 101;
  transport.session->SpecArrived(spec);
  ASSERT_TRUE(transport.WaitForReads(2));
  transport.session->ChunkArrived(0, 0, "model");
  EXPECT_FALSE(transport.WaitForEnd().error);
  EXPECT_TRUE(transport.Events<Finished>()[0].gate_failed);
  EXPECT_EQ(transport.Events<ChunkEvent>()[0].bytes.text(), "ledom");
}

}  // namespace
}  // namespace octavo::server
